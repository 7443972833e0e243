"""`collect`: from a model and data to saved `Outputs`, shard by shard, so that no crash costs more than one shard.

A run lives in a folder beside its goal (``.NAME.collect``): one file per shard, written whole or not at all, sealed,
with a digest of all that the run depends on. The same call goes on with the shards that are missing or damaged; a call
with other inputs, transform, model or settings is refused with the names of what changed, and a second process at work
on the same folder with the number of the first. Batches never cross a shard, so an interrupted run gives the same
bytes, and so do several processes with a part each. Result and record come into being in one step.
"""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, final

from abstain.collect.as_model import as_model
from abstain.collect.data import Data
from abstain.collect.forward import forward
from abstain.collect.model import Model, preparation
from abstain.collect.part import Part
from abstain.collect.reader import OnError, Reader, in_workers
from abstain.collect.resume import RECORD, at_work, clean, is_finished, remove, remove_left, work_folder
from abstain.collect.samples import Samples
from abstain.collect.shards import Shards
from abstain.collect.torch_data import as_data
from abstain.fingerprint import digest
from abstain.names import check_name
from abstain.outputs import Outputs

Progress = Callable[[int, int], None]
FORMAT = 3
BATCH, SHARD = 64, 2048


def collect(
    model: Model | Any,
    data: Data | Any | Sequence[Data | Any],
    folder: str | PathLike[str],
    /,
    *,
    batch_size: int | None = None,
    shard_size: int | None = None,
    workers: int = 0,
    on_error: OnError = "raise",
    progress: Progress | None = None,
) -> Outputs:
    """Run the model over the data once and save its outputs in ``folder``; called again, go on where it stopped.

    A ``torch.nn.Module``, a scikit-learn estimator, a ``Dataset`` and a ``DataLoader`` are taken as they are (see
    `as_model` and `as_data`).
    Several data sets, in a list, become one `Outputs`. A sample that cannot be read, or whose logits are not finite,
    stops the run with its name, or with ``on_error="skip"`` is left out and listed in ``collect.json``. ``progress`` is
    called with the number of samples done and in all. Memory does not grow with the number of samples. Unless given,
    batches are those of a loader, or of 64, and shards the most of them within 2048 rows.

    With ``workers``, that many processes read, decode and prepare batches while the model runs; the bytes are the same.
    A loader has workers of its own. A second process at work on the same folder is refused; see `collect_part`.
    """
    found = _Run.of(model, data, folder, batch_size, shard_size, workers, on_error).go(None, progress)
    assert found is not None  # a whole run is done when it ends
    return found


def collect_part(
    model: Model | Any,
    data: Data | Any | Sequence[Data | Any],
    folder: str | PathLike[str],
    part: str,
    /,
    *,
    batch_size: int | None = None,
    shard_size: int | None = None,
    workers: int = 0,
    on_error: OnError = "raise",
    progress: Progress | None = None,
) -> Outputs | None:
    """Like `collect`, but compute one ``part`` of the shards, such as "2/4"; None while others are missing.

    Processes with a part each, for instance one for each graphics card, share the folder. The one that ends last writes
    the outputs, the same bytes as those of `collect` alone.
    """
    run = _Run.of(model, data, folder, batch_size, shard_size, workers, on_error)
    return run.go(Part.parse(part), progress)


@final
@dataclass(frozen=True)
class _Run:
    model: Model
    samples: Samples
    goal: Path
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
        batch_size: int | None,
        shard_size: int | None,
        workers: int,
        on_error: OnError,
    ) -> "_Run":
        check_name("on_error", on_error, ("raise", "skip"), rule="be 'raise' or 'skip'")
        if workers < 0:
            raise ValueError(f"`workers` must be at least 0, got {workers}.")
        batch_size, shard_size = _sizes(
            getattr(data, "batch_size", None) or BATCH if batch_size is None else batch_size, shard_size
        )
        return cls(as_model(model), _samples(data, workers), Path(folder), batch_size, shard_size, workers, on_error)

    def go(self, part: Part | None, progress: Progress | None) -> Outputs | None:
        """The outputs, or None where this was a part and others are missing."""
        settings, goal = self._settings(), self.goal
        clean(goal)
        if not is_finished(goal, settings):
            with at_work(goal, settings, part) as lock:
                shards = Shards(work_folder(goal), digest(settings), len(self.samples), self.shard_size)
                if not is_finished(goal, settings):  # by another process meanwhile
                    self._compute(shards, part, progress)
                    if part is not None and not (lock.take() and lock.is_in_place() and shards.are_there()):
                        return None  # the last part to end finishes the run
                    self._finish(shards, settings)
                if part is None or lock.take():
                    remove(shards.work)
        remove_left(goal)  # by a process that was killed after the result was there
        return Outputs.load(goal)

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
        """Every shard of the part that is not there yet, or damaged."""
        mine = shards.ranges() if part is None else shards.ranges(part.number - 1, part.of)
        todo = _missing(shards, mine)
        total = sum(map(len, mine))
        done = total - sum(map(len, todo))

        def tick(rows: int) -> None:
            nonlocal done
            done += rows
            if progress is not None:
                progress(done, total)

        tick(0)
        cut = {rows: [rows[at : at + self.batch_size] for at in range(0, len(rows), self.batch_size)] for rows in todo}
        read = Reader(self.samples, preparation(self.model), self.on_error)
        tasks = (batch for each in cut.values() for batch in each)
        with closing(in_workers(read, tasks, self.workers if todo else 0)) as batches:
            for rows, own in cut.items():
                shard = forward(self.model, self.samples, islice(batches, len(own)), on_error=self.on_error, tick=tick)
                shards.write(rows, replace(shard, head=shards.keep_head(self.model)))

    def _finish(self, shards: Shards, settings: dict[str, Any]) -> None:
        """The result and its record, there at once or not at all."""
        whole = shards.joined(shards.work / f"joined-{os.getpid()}-{token_hex(4)}")
        if whole.logits is None:
            raise ValueError(
                f"`data` must have samples that can be read, got {len(self.samples)} failures and no success."
            )
        weight, bias = shards.head() if whole.head else (None, None)
        names = self.model.class_names
        outputs = Outputs(
            logits=whole.logits,
            features=whole.features,
            weight=weight,
            bias=bias,
            class_names=None if names is None else [str(name) for name in names],
            **self.samples.known(whole.rows, names),
        )
        failures = [
            {"sample": self.samples.name(row), "reason": reason} for row, reason in sorted(whole.failures.items())
        ]
        record = json.dumps({**settings, "n": len(outputs), "failures": failures}, indent=1).encode()
        outputs.save(self.goal, beside={RECORD: record})


def _missing(shards: Shards, ranges: list[range]) -> list[range]:
    """The shards to compute; where the head that shards were made with is lost, one of them that brings it back."""
    heads: dict[range, str | None] = {}
    for rows in ranges:
        if (shard := shards.read(rows)) is not None:
            heads[rows] = shard.head
    todo = [rows for rows in ranges if rows not in heads]
    kept = shards.head_digest()
    lost = [rows for rows, head in heads.items() if head not in (None, kept)]
    return sorted([*todo, *lost[:1]], key=lambda rows: rows.start)


def _sizes(batch_size: int, shard_size: int | None) -> tuple[int, int]:
    shard_size = shard_size if shard_size is not None else batch_size * max(1, SHARD // max(1, batch_size))
    if batch_size < 1 or shard_size < batch_size:
        raise ValueError(
            f"`shard_size` must be at least `batch_size` and that at least 1, got {shard_size}, {batch_size}."
        )
    return batch_size, shard_size


def _samples(data: Any, workers: int) -> Samples:
    given = data if isinstance(data, list | tuple) else [data]
    samples = Samples(tuple(as_data(part, workers=workers) for part in given))
    if not samples.parts or not all(len(part) for part in samples.parts):
        raise ValueError("`data` must have samples, got an empty data set.")
    if workers and any(getattr(part.inputs, "in_order", False) for part in samples.parts):
        raise ValueError(
            f"`workers` must be 0 for batches that come in order, got {workers}. A DataLoader has its own: num_workers."
        )
    return samples
