"""Batches as a model takes them: samples read, decoded and prepared, where wanted in worker processes.

Workers read ahead while the model runs, and their batches come out in order, so that the outputs are the same bytes
whatever their number.
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

from abstain.collect.data import OtherInputsError
from abstain.collect.model import Prepare
from abstain.collect.samples import Samples

AHEAD = 2  # batches for each worker that are read before the model asks for them
OnError = Literal["raise", "skip"]
Task = TypeVar("Task")
Result = TypeVar("Result")


class SampleError(ValueError):
    """One sample could not be read or classified; the message names it."""


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
            except OtherInputsError:  # not this sample's failure: the data are not what they were
                raise
            except Exception as error:
                failures[row] = f"cannot be read: {type(error).__name__}: {error}"
                if self.on_error == "raise":
                    raise sample_error(self.samples, row, failures[row]) from error
        return Batch(list(inputs), self.prepare(list(inputs.values())) if inputs else None, failures)


def sample_error(samples: Samples, row: int, reason: str, /) -> SampleError:
    """What stops a run."""
    return SampleError(
        f"Sample {samples.name(row)} {reason}. Mend or remove it, or pass on_error='skip' to go on without it."
    )


def in_workers(work: Callable[[Task], Result], tasks: Iterable[Task], workers: int, /) -> Generator[Result, None, None]:
    """The results in the order of the tasks, from that many processes; without any, in this one.

    No more than a few results for each worker wait at any time. Where the platform can fork, ``work`` may be anything;
    elsewhere it must be something that pickles. A worker ends with this process however that ends.
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
        raise OSError(
            "`workers` must live, got one that was killed, as happens where memory runs out. Run again with fewer, or "
            "smaller batches: what is done is kept."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _taken(future: Any) -> Any:
    """The result; an error is raised here, since whose it is shows by where it was raised."""
    error = future.exception()
    if error is not None:
        raise error
    result = future.result()
    return pickle.loads(result) if isinstance(result, bytes) else result


_WORK: Callable[[Any], Any]


def _begin(work: Callable[[Any], Any]) -> None:
    """In a new worker: one thread, no part in Ctrl-C, and an end when its parent has one."""
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
    """The result; a tensor travels in shared memory, and many small ones by value, as each takes a file descriptor."""
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
    return all(hasattr(one, "detach") for one in (value.values() if isinstance(value, dict) else [value]))


def _check_pickles(work: Any) -> None:
    try:
        ForkingPickler.dumps(work)
    except Exception as error:
        raise ValueError(
            f"`workers` must be 0 on this platform for data or a preparation that cannot be pickled, got {error}. Use "
            "functions of a module instead of lambdas."
        ) from None
