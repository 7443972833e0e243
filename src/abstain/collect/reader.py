"""Batches as a model takes them: samples read, decoded and prepared, in worker processes if asked for.

Workers read ahead while the model runs. Batches come out in order, so that the outputs are the same bytes for any
number of workers.
"""

import multiprocessing
import os
import pickle  # between this process and its own workers: no file is unpickled
import signal
import sys
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from threading import Thread
from typing import Any, Literal, TypeVar, final

from abstain._errors import ChangedInputsError, InvalidInputError, SampleError, WorkerDiedError
from abstain.collect.model import Prepare
from abstain.collect.samples import Samples

AHEAD = 2  # batches for each worker that are read before the model asks for them
OnError = Literal["raise", "skip"]
Task = TypeVar("Task")
Result = TypeVar("Result")


@final
@dataclass(frozen=True)
class Batch:
    """The rows of a batch that could be read, prepared for the model, and why the others could not."""

    rows: list[int]
    prepared: Any
    failures: dict[int, str]


@final
@dataclass(frozen=True)
class Reader:
    """From rows to a `Batch`."""

    samples: Samples
    prepare: Prepare
    on_error: OnError

    def __call__(self, rows: range, /) -> Batch:
        """Read and prepare them."""
        inputs, failures = {}, {}
        for row in rows:
            try:
                inputs[row] = self.samples[row]
            except ChangedInputsError:  # not a failure of this sample: the data have changed
                raise
            except Exception as error:
                failures[row] = f"cannot be read: {type(error).__name__}: {error}"
                if self.on_error == "raise":
                    raise sample_error(self.samples, row, failures[row]) from error
        return Batch(list(inputs), self.prepare(list(inputs.values())) if inputs else None, failures)


def sample_error(samples: Samples, row: int, reason: str, /) -> SampleError:
    """The error that stops a run."""
    return SampleError(
        f"Sample {samples.name(row)} {reason}. Fix or remove it, or pass on_error='skip' to leave it out."
    )


def in_workers(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int, /) -> Generator[Result, None, None]:
    """The results in the order of the tasks, from that many processes; without any, in this one.

    At most a few results per worker wait at any time. On Linux workers are forked, and ``work`` may be anything;
    elsewhere it must be picklable. A worker ends with this process, however that ends.
    """
    if not workers:
        yield from map(work, tasks)
        return
    forks = sys.platform == "linux"
    context = multiprocessing.get_context("fork" if forks else "spawn")
    if not forks:
        _check_pickles(work)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(work,))
    waiting: deque[Any] = deque()
    try:
        with warnings.catch_warnings():  # Python warns of forks beside threads; workers start none of these
            warnings.filterwarnings("ignore", message=".*fork.*")
            pool.submit(os.getpid).result()  # all workers start here, before the model has run
        for task in tasks:
            waiting.append(pool.submit(_run, task))
            if len(waiting) > AHEAD * workers:
                yield _taken(waiting.popleft())
        while waiting:
            yield _taken(waiting.popleft())
    except BrokenProcessPool:
        raise WorkerDiedError(
            "`workers` must not die, got one that was killed, most likely for lack of memory. Run again with fewer "
            "workers or smaller batches; finished shards are reused."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _taken(future: Any) -> Any:
    """The result, or its error raised in this process."""
    error = future.exception()
    if error is not None:
        raise error
    result = future.result()
    return pickle.loads(result) if isinstance(result, bytes) else result


_WORK: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    """Set up a new worker: one thread, Ctrl-C ignored, and it ends when its parent ends."""
    global _WORK
    _WORK = work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)
    if (cv2 := sys.modules.get("cv2")) is not None:
        cv2.setNumThreads(0)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _run(task: Any) -> Any:
    """The result; tensors are passed in shared memory, anything else by value, since each takes a file descriptor."""
    try:
        result = _WORK(task)
        return result if _is_tensors(getattr(result, "prepared", None)) else pickle.dumps(result)
    except Exception as error:
        try:
            ForkingPickler.loads(ForkingPickler.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        raise


def _is_tensors(value: Any) -> bool:
    """A tensor, or a dictionary of them by name."""
    return all(hasattr(item, "detach") for item in (value.values() if isinstance(value, dict) else [value]))


def _check_pickles(work: Any) -> None:
    try:
        ForkingPickler.dumps(work)
    except Exception as error:
        raise InvalidInputError(
            f"`workers` must be 0 on this platform for data or a preparation that cannot be pickled, got {error}. Use "
            "functions of a module instead of lambdas."
        ) from None
