"""`collect`: from a model and data to saved `Outputs`, shard by shard, so that no crash costs more than one shard.

A run lives in a folder beside its goal (``.NAME.collect``): one file per shard, written whole or not at all, with a
digest of all that the run depends on. The same call goes on after the last whole shard; a call with other inputs,
transform, model or settings is refused with the names of what changed. Batches never cross a shard, so an interrupted
run gives the same bytes. Result and record come into being in one step.
"""

import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect.as_model import as_model
from abstain.collect.data import Data
from abstain.collect.forward import OnError, forward
from abstain.collect.model import Model
from abstain.collect.resume import RECORD, clean, is_finished, open_run, remove, work_folder
from abstain.collect.samples import Samples
from abstain.collect.shards import Shards
from abstain.collect.torch_data import as_data
from abstain.fingerprint import digest
from abstain.names import check_name
from abstain.outputs import Outputs

Progress = Callable[[int, int], None]
FORMAT = 2
BATCH, SHARD = 64, 2048


def collect(
    model: Model | Any,
    data: Data | Any | Sequence[Data | Any],
    folder: str | PathLike[str],
    /,
    *,
    batch_size: int | None = None,
    shard_size: int | None = None,
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
    """
    check_name("on_error", on_error, ("raise", "skip"), rule="be 'raise' or 'skip'")
    batch_size, shard_size = _sizes(
        getattr(data, "batch_size", None) or BATCH if batch_size is None else batch_size, shard_size
    )
    made, samples = as_model(model), _samples(data)
    settings = {
        "format": FORMAT,
        "model": made.name,
        "data": [part.fingerprint() for part in samples.parts],
        "batch_size": batch_size,
        "shard_size": shard_size,
        "on_error": on_error,
    }
    goal = Path(folder)
    work = work_folder(goal)
    clean(goal)
    if not is_finished(goal, settings):
        open_run(work, settings)
        shards = Shards(work, digest(settings), len(samples), shard_size)
        _compute(made, samples, shards, batch_size, on_error, progress)
        _finish(goal, made, samples, shards, settings)
    if work.exists():  # done now, or killed after the result was there
        remove(work)
    return Outputs.load(goal)


def _finish(goal: Path, model: Model, samples: Samples, shards: Shards, settings: dict[str, Any]) -> None:
    """The result and its record, there at once or not at all."""
    outputs, failures = _assemble(model, samples, shards)
    record = json.dumps({**settings, "n": len(outputs), "failures": failures}, indent=1).encode()
    outputs.save(goal, beside={RECORD: record})


def _sizes(batch_size: int, shard_size: int | None) -> tuple[int, int]:
    shard_size = shard_size if shard_size is not None else batch_size * max(1, SHARD // max(1, batch_size))
    if batch_size < 1 or shard_size < batch_size:
        raise ValueError(
            f"`shard_size` must be at least `batch_size` and that at least 1, got {shard_size}, {batch_size}."
        )
    return batch_size, shard_size


def _samples(data: Any) -> Samples:
    samples = Samples(tuple(as_data(part) for part in (data if isinstance(data, list | tuple) else [data])))
    if not samples.parts or not all(len(part) for part in samples.parts):
        raise ValueError("`data` must have samples, got an empty data set.")
    return samples


def _compute(
    model: Model, samples: Samples, shards: Shards, batch_size: int, on_error: OnError, progress: Progress | None
) -> None:
    """Every shard that is not there yet."""
    for rows in shards.ranges():
        if not shards.has(rows):
            arrays = forward(model, samples, rows, batch_size=batch_size, on_error=on_error)
            shards.keep_head(model)
            shards.write(rows, arrays)
        if progress is not None:
            progress(rows.stop, len(samples))


def _assemble(model: Model, samples: Samples, shards: Shards) -> tuple[Outputs, list[dict[str, str]]]:
    """The outputs of all shards, their arrays in files, and the samples that failed."""
    rows = np.concatenate([shard["rows"] for shard in shards])
    if not len(rows):
        raise ValueError(f"`data` must have samples that can be read, got {len(samples)} failures and no success.")
    weight, bias = shards.head()
    outputs = Outputs(
        logits=shards.joined("logits", len(rows)),
        features=shards.joined("features", len(rows)),
        weight=weight,
        bias=bias,
        class_names=model.class_names,
        **samples.known(rows, model.class_names),
    )
    failures = [
        {"sample": samples.name(int(row)), "reason": str(reason)}
        for shard in shards
        for row, reason in zip(shard["failed_rows"], shard["failed_reasons"], strict=True)
    ]
    return outputs, failures
