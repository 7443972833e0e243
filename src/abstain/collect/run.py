"""`collect`: from a model and data to saved `Outputs`, shard by shard, so that no crash costs more than one shard.

A run has a folder next to its output (``.NAME.collect``) with one sealed file per shard and a digest of all that the
run depends on. The same call again computes the shards that are missing or damaged. A call with other inputs,
transform, model or settings is refused with the names of what changed; so is a second process on the same folder.
Batches never cross a shard, so an interrupted run, or several processes with a part each, give the same bytes. The
outputs and their record appear in one step.
"""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, TypedDict, Unpack, final

from abstain._arguments import check_at_least
from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest
from abstain._names import check_name
from abstain.collect.data import Data
from abstain.collect.forward import forward
from abstain.collect.model import Model
from abstain.collect.reader import OnError, Reader, in_workers
from abstain.collect.run_state import RECORD, Part, at_work, clean, is_finished, remove, remove_left, work_folder
from abstain.collect.samples import Samples
from abstain.collect.shards import Shards
from abstain.collect.specs import as_model
from abstain.collect.torch_data import as_data
from abstain.outputs import Outputs
from abstain.outputs.save import check_folder_name

Progress = Callable[[int, int], None]
FORMAT = 3
BATCH, SHARD = 64, 2048


@final
class CollectOptions(TypedDict, total=False):
    """How `collect` reads, and what it does with a sample that fails.

    Attributes
    ----------
    batch_size : int or None
        By default that of a loader, or 64.
    shard_size : int or None
        Samples per file of the unfinished run; by default the most batches within 2048 rows.
    workers : int
        Processes that read and prepare batches while the model runs; the bytes are the same. A loader has its own.
    on_error : {"raise", "skip"}
        ``"raise"`` stops at a sample that cannot be read or has non-finite logits, ``"skip"`` leaves it out and lists
        it in ``collect.json``.
    """

    batch_size: int | None
    shard_size: int | None
    workers: int
    on_error: OnError


def collect(
    model: Model | Any,
    data: Data | Any | Sequence[Data | Any],
    folder: str | PathLike[str],
    /,
    *,
    progress: Progress | None = None,
    **options: Unpack[CollectOptions],
) -> Outputs:
    """Run a model over data once and save its outputs; called again, resume where it stopped.

    Memory does not grow with the number of samples. A second process on the same folder is refused; to share the work
    use `collect_part`.

    Parameters
    ----------
    model : Model, torch.nn.Module or scikit-learn estimator
        A `Model`, a ``torch.nn.Module`` or a scikit-learn estimator.
    data : Data, Dataset, DataLoader, or a list of these
        `Data`, a PyTorch ``Dataset`` or ``DataLoader``, or a list of these, which become one `Outputs`.
    folder : path
        Where the outputs are saved.
    progress : function, optional
        Called with the number of samples done and the total.
    **options : int or str
        ``batch_size``, ``shard_size``, ``workers`` and ``on_error``: see `CollectOptions`.

    Returns
    -------
    Outputs
        As saved, memory-mapped.

    Raises
    ------
    SampleError
        For a sample that cannot be read or classified.
    FileConflictError, FileInUseError
        If the folder holds something else, or another process is at work on it.
    """
    outputs = _Run.of(model, data, folder, **options).go(None, progress)
    assert outputs is not None  # only a part may end without
    return outputs


def collect_part(
    model: Model | Any,
    data: Data | Any | Sequence[Data | Any],
    folder: str | PathLike[str],
    part: str,
    /,
    *,
    progress: Progress | None = None,
    **options: Unpack[CollectOptions],
) -> Outputs | None:
    """Like `collect`, but compute one part of the shards, such as one per graphics card.

    Processes with a part each share the folder. The last to end writes the outputs, the same bytes as those of
    `collect`.

    Parameters
    ----------
    model : Model, torch.nn.Module or scikit-learn estimator
        As of `collect`, as are the data, the folder and the options: the same for all parts.
    data : Data, Dataset, DataLoader, or a list of these
        As of `collect`.
    folder : path
        As of `collect`.
    part : str
        ``"2/4"`` is the second of four parts.
    progress : function, optional
        As of `collect`.
    **options : int or str
        As of `collect`.

    Returns
    -------
    Outputs or None
        None while other parts are missing.
    """
    return _Run.of(model, data, folder, **options).go(Part.parse(part), progress)


@final
@dataclass(frozen=True)
class _Run:
    model: Model
    samples: Samples
    folder: Path
    batch_size: int
    shard_size: int
    workers: int
    on_error: OnError

    @classmethod
    def of(
        cls,
        model: Any,
        data: Any,
        folder: str | PathLike[str],
        *,
        batch_size: int | None = None,
        shard_size: int | None = None,
        workers: int = 0,
        on_error: OnError = "raise",
    ) -> "_Run":
        check_name("on_error", on_error, ("raise", "skip"), rule="be 'raise' or 'skip'")
        check_at_least("workers", workers, 0)
        batch_size, shard_size = _sizes(
            getattr(data, "batch_size", None) or BATCH if batch_size is None else batch_size, shard_size
        )
        check_folder_name(Path(folder))
        return cls(as_model(model), _samples(data, workers), Path(folder), batch_size, shard_size, workers, on_error)

    def go(self, part: Part | None, progress: Progress | None) -> Outputs | None:
        """The outputs, or None where this is a part and others are missing."""
        settings, folder = self._settings(), self.folder
        clean(folder)
        if not is_finished(folder, settings):
            with at_work(folder, settings, part) as lock:
                shards = Shards(work_folder(folder), digest(settings), len(self.samples), self.shard_size)
                if not is_finished(folder, settings):  # by another process since
                    self._compute(shards, part, progress)
                    if part is not None and not (lock.take() and lock.is_in_place() and shards.are_there()):
                        return None  # the last part to end finishes the run
                    self._finish(shards, settings)
                if part is None or lock.take():
                    remove(shards.work)
        remove_left(folder)  # by a process that was killed after it wrote the outputs
        return Outputs.load(folder)

    def _settings(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "model": self.model.name,
            "data": [part.fingerprint() for part in self.samples.parts],
            "batch_size": self.batch_size,
            "shard_size": self.shard_size,
            "on_error": self.on_error,
        }

    def _compute(self, shards: Shards, part: Part | None, progress: Progress | None) -> None:
        """Compute every shard of the part that is missing or damaged."""
        mine = shards.ranges() if part is None else shards.ranges(part.number - 1, part.of)
        todo = [rows for rows in mine if shards.read(rows) is None]
        total = sum(map(len, mine))
        done = total - sum(map(len, todo))

        def tick(rows: int) -> None:
            nonlocal done
            done += rows
            if progress is not None:
                progress(done, total)

        tick(0)
        cut = {rows: [rows[at : at + self.batch_size] for at in range(0, len(rows), self.batch_size)] for rows in todo}
        read = Reader(self.samples, self.model.prepare, self.on_error)
        tasks = (batch for each in cut.values() for batch in each)
        with closing(in_workers(read, tasks, self.workers if todo else 0)) as batches:
            for rows, own in cut.items():
                some = islice(batches, len(own))
                shards.write(rows, forward(self.model, self.samples, some, on_error=self.on_error, tick=tick))

    def _finish(self, shards: Shards, settings: dict[str, Any]) -> None:
        """Write the outputs and their record in one step."""
        whole = shards.joined(shards.work / f"joined-{os.getpid()}-{token_hex(4)}")
        if whole.logits is None:
            raise InvalidInputError(
                f"`data` must have samples that can be read, got {len(self.samples)} failures and no success."
            )
        names = self.model.class_names
        outputs = Outputs(
            logits=whole.logits,
            features=whole.features,
            weight=whole.weight,
            bias=whole.bias,
            class_names=None if names is None else [str(name) for name in names],
            **self.samples.known(whole.rows, names),
        )
        failures = [
            {"sample": self.samples.name(row), "reason": reason} for row, reason in sorted(whole.failures.items())
        ]
        record = json.dumps({**settings, "n": len(outputs), "failures": failures}, indent=1).encode()
        outputs.save(self.folder, extra_files={RECORD: record})


def _sizes(batch_size: int, shard_size: int | None) -> tuple[int, int]:
    shard_size = shard_size if shard_size is not None else batch_size * max(1, SHARD // max(1, batch_size))
    if batch_size < 1 or shard_size < batch_size:
        raise InvalidInputError(
            f"`shard_size` must be at least `batch_size` and that at least 1, got {shard_size}, {batch_size}."
        )
    return batch_size, shard_size


def _samples(data: Any, workers: int) -> Samples:
    given = data if isinstance(data, list | tuple) else [data]
    samples = Samples(tuple(as_data(part, workers=workers) for part in given))
    if not samples.parts or not all(len(part) for part in samples.parts):
        raise InvalidInputError("`data` must have samples, got an empty data set.")
    if workers and any(getattr(part.inputs, "in_order", False) for part in samples.parts):
        raise InvalidInputError(
            f"`workers` must be 0 for batches that come in order, got {workers}. A DataLoader has its own: num_workers."
        )
    return samples
