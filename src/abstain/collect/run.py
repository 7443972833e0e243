"""`collect`: from a model and data to saved `Outputs`, shard by shard, so that no crash costs more than one shard.

A run lives in a folder beside its goal (``.NAME.collect``): one file per shard, written whole or not at all, with a
digest of all that the run depends on. The same call goes on after the last whole shard; a call with other inputs,
transform, model or settings is refused with the names of what changed. Batches never cross a shard, so an interrupted
run gives the same bytes. Result and record come into being in one step.
"""

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abstain.collect.data import Data
from abstain.collect.fingerprint import digest
from abstain.collect.labels import match_labels
from abstain.collect.model import Model
from abstain.files import write_whole
from abstain.outputs import Outputs

Progress = Callable[[int, int], None]
OnError = Literal["raise", "skip"]
FORMAT = 2
RECORD = "collect.json"
HEAD = "head.npz"


class SampleError(ValueError):
    """One sample could not be read or classified; the message names it."""


def collect(
    model: Model,
    data: Data | Sequence[Data],
    folder: str | PathLike[str],
    /,
    *,
    batch_size: int = 64,
    shard_size: int = 2048,
    on_error: OnError = "raise",
    progress: Progress | None = None,
) -> Outputs:
    """Run the model over the data once and save its outputs in ``folder``; called again, go on where it stopped.

    Several data sets become one `Outputs`. A sample that cannot be read, or whose logits are not finite, stops the run
    with its name, or with ``on_error="skip"`` is left out and listed in ``collect.json``. ``progress`` is called with
    the number of samples done and in all. Memory does not grow with the number of samples.
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"`on_error` must be 'raise' or 'skip', got {on_error!r}.")
    if batch_size < 1 or shard_size < batch_size:
        raise ValueError(
            f"`shard_size` must be at least `batch_size` and that at least 1, got {shard_size}, {batch_size}."
        )
    parts = [data] if isinstance(data, Data) else list(data)
    if not parts or not all(len(part) for part in parts):
        raise ValueError("`data` must have samples, got an empty data set.")
    goal = Path(folder)
    settings = {
        "format": FORMAT,
        "model": model.name,
        "data": [part.fingerprint() for part in parts],
        "batch_size": batch_size,
        "shard_size": shard_size,
        "on_error": on_error,
    }
    work = goal.parent / f".{goal.name}.collect"
    _clean(goal)
    if _is_finished(goal, settings):
        if work.exists():  # killed after the result was there
            _remove(work)
        return Outputs.load(goal)
    _open_run(work, settings)
    belongs = digest(settings)
    starts = np.cumsum([0, *(len(part) for part in parts)])
    for first in range(0, int(starts[-1]), shard_size):
        shard = work / f"shard-{first:012d}.npz"
        if not _is_whole(shard, belongs):
            rows = range(first, min(first + shard_size, int(starts[-1])))
            arrays = _run_shard(model, parts, starts, rows, batch_size, on_error)
            _keep_head(work, model, belongs)
            _write_shard(shard, arrays | {"belongs": np.array(belongs)})
        if progress is not None:
            progress(min(first + shard_size, int(starts[-1])), int(starts[-1]))
    outputs, failures = _assemble(work, model, parts, starts)
    record = json.dumps({**settings, "n": len(outputs), "failures": failures}, indent=1).encode()
    outputs.save(goal, beside={RECORD: record})
    _remove(work)
    return Outputs.load(goal)


def _is_finished(goal: Path, settings: dict[str, Any]) -> bool:
    record = goal / RECORD
    if not record.exists():
        if goal.exists() and (not goal.is_dir() or any(goal.iterdir())):
            raise FileExistsError(f"`folder` must be new or a run of collect, got {goal}. Choose another place.")
        return False
    try:
        before = json.loads(record.read_text(encoding="utf-8"))
        changed = _changed({name: before.get(name) for name in settings}, settings)
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f"`{record}` must be a record of collect, got other contents. Choose another place.") from None
    if changed:
        raise FileExistsError(
            f"`folder` must be new for another model, data or setting, got {goal}, made with other {changed}. "
            "Choose another place, or remove it."
        )
    return True


def _changed(before: dict[str, Any], now: dict[str, Any]) -> str:
    """The names of what is not as it was, in words; nothing if all is."""
    found = [name for name in now if name != "data" and before.get(name) != now[name]]
    old, new = before.get("data") or [], now["data"]
    if len(old) != len(new):
        found.append(f"data ({len(old)} data sets, now {len(new)})")
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        which = f" of data set {number}" if len(new) > 1 else ""
        found += [f"{name}{which}" for name in other if one.get(name) != other[name]]
    return ", ".join(found)


def _open_run(work: Path, settings: dict[str, Any]) -> None:
    """Start a run, or make sure that the one begun there is the same."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "settings.json"
    if not file.exists():
        write_whole(file, lambda partial: partial.write_bytes(json.dumps(settings).encode()))
        return
    try:
        changed = _changed(json.loads(file.read_text(encoding="utf-8")), settings)
    except (ValueError, AttributeError, TypeError):
        raise ValueError(
            f"`{file}` must be of a run of collect, got other contents. Remove {work} and run again."
        ) from None
    if changed:
        raise ValueError(
            f"`folder` must be new for another model, data or setting, got a run begun with other {changed} in {work}. "
            f"Choose another place, or remove {work} to begin again."
        )


def _remove(work: Path) -> None:
    """Take the shards away in one step before any is deleted, so that no other run can find some of them."""
    gone = work.with_name(f"{work.name}.{os.getpid()}.{token_hex(4)}.gone")
    os.replace(work, gone)
    shutil.rmtree(gone)


def _clean(goal: Path) -> None:
    """Remove what runs that were killed left beside the goal: never what a living process may be writing."""
    if not goal.parent.is_dir():
        return
    for litter in (*goal.parent.glob(f".{goal.name}.collect.*.gone"), *goal.parent.glob(f".{goal.name}.*.partial")):
        owner = litter.name.rsplit(".", 3)[-3]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(litter, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _is_whole(shard: Path, belongs: str) -> bool:
    """Whether the shard is there, can be read, and was made with these settings."""
    if not shard.exists():
        return False
    try:
        with np.load(shard, allow_pickle=False) as arrays:
            return "rows" in arrays.files and str(arrays["belongs"]) == belongs
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return False


def _run_shard(
    model: Model, parts: list[Data], starts: NDArray[np.int64], rows: range, batch_size: int, on_error: OnError
) -> dict[str, NDArray[Any]]:
    kept: list[int] = []
    failures: list[tuple[int, str]] = []
    logits, features = [], []
    for first in range(rows.start, rows.stop, batch_size):
        batch, inputs = [], []
        for row in range(first, min(first + batch_size, rows.stop)):
            part = int(np.searchsorted(starts, row, side="right")) - 1
            try:
                inputs.append(parts[part][row - int(starts[part])])
                batch.append(row)
            except Exception as error:
                _fail(failures, row, parts, starts, f"cannot be read: {type(error).__name__}: {error}", on_error, error)
        if not batch:
            continue
        z, x = model(inputs)
        if z.ndim != 2 or len(z) != len(batch):
            raise ValueError(f"`model` must give logits of shape ({len(batch)}, K), got {z.shape}.")
        good = np.asarray(np.isfinite(z).all(axis=1))
        if x is not None:
            good = good & np.isfinite(x).all(axis=1)
        for place in np.flatnonzero(~good):
            _fail(failures, batch[place], parts, starts, "has logits or features that are not finite", on_error, None)
        kept += [row for row, fine in zip(batch, good, strict=True) if fine]
        logits.append(z[good])
        if x is not None:
            features.append(x[good])
    arrays: dict[str, NDArray[Any]] = {
        "rows": np.array(kept, dtype=np.int64),
        "failed_rows": np.array([row for row, _ in failures], dtype=np.int64),
        "failed_reasons": np.array([reason for _, reason in failures], dtype=str),
    }
    if kept:
        arrays["logits"] = np.concatenate(logits)
        if features:
            arrays["features"] = np.concatenate(features)
    return arrays


def _fail(
    failures: list[tuple[int, str]],
    row: int,
    parts: list[Data],
    starts: NDArray[np.int64],
    reason: str,
    on_error: OnError,
    cause: BaseException | None,
) -> None:
    if on_error == "raise":
        part = int(np.searchsorted(starts, row, side="right")) - 1
        local = row - int(starts[part])
        name = local if parts[part].ids is None else parts[part].ids[local]  # type: ignore[index]
        raise SampleError(
            f"Sample {name} {reason}. Mend or remove it, or pass on_error='skip' to go on without it."
        ) from cause
    failures.append((row, reason))


def _write_shard(shard: Path, arrays: dict[str, NDArray[Any]]) -> None:
    def write(partial: Path) -> None:
        with open(partial, "wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]

    write_whole(shard, write)


def _shards(work: Path) -> Iterator[Any]:
    for shard in sorted(work.glob("shard-*.npz")):
        with np.load(shard, allow_pickle=False) as arrays:
            yield arrays


def _assemble(
    work: Path, model: Model, parts: list[Data], starts: NDArray[np.int64]
) -> tuple[Outputs, list[dict[str, Any]]]:
    """Join the shards on disk, without holding more than one in memory."""
    rows = np.concatenate([shard["rows"] for shard in _shards(work)])
    if not len(rows):
        raise ValueError(f"`data` must have samples that can be read, got {int(starts[-1])} failures and no success.")
    logits, features = (_joined(work, name, len(rows)) for name in ("logits", "features"))
    assert logits is not None  # or rows were empty
    weight, bias = _kept_head(work)
    which = np.searchsorted(starts, rows, side="right") - 1
    local = rows - starts[which]
    labels = _gather([_labels(part, model) for part in parts], which, local)
    shift = np.array([part.shift for part in parts])[which]
    outputs = Outputs(
        logits=logits,
        features=features,
        weight=weight,
        bias=bias,
        labels=labels,
        shift=shift if labels is None else np.where(labels < 0, "label", shift),
        domain=_gather([np.broadcast_to(part.domain, len(part)) for part in parts], which, local),
        ids=_gather([np.arange(len(part)) if part.ids is None else part.ids for part in parts], which, local),
        class_names=model.class_names,
    )
    failures = []
    for shard in _shards(work):
        for row, reason in zip(shard["failed_rows"], shard["failed_reasons"], strict=True):
            part = int(np.searchsorted(starts, row, side="right")) - 1
            local_row = int(row - starts[part])
            ids = parts[part].ids
            failures.append({"sample": str(local_row if ids is None else ids[local_row]), "reason": str(reason)})
    return outputs, failures


def _keep_head(work: Path, model: Model, belongs: str) -> None:
    """Store the head once it is known: a model may find it in its first batch only, and a run may go on after that."""
    weight, bias = model.head()
    if weight is not None and not (work / HEAD).exists():
        head = {"weight": weight} if bias is None else {"weight": weight, "bias": bias}
        _write_shard(work / HEAD, head | {"belongs": np.array(belongs)})


def _kept_head(work: Path) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    if not (work / HEAD).exists():
        return None, None
    with np.load(work / HEAD, allow_pickle=False) as arrays:
        return arrays["weight"], arrays["bias"] if "bias" in arrays.files else None


def _joined(work: Path, name: str, n: int) -> NDArray[Any] | None:
    target, start = None, 0
    for shard in _shards(work):
        if name not in shard.files:
            if name == "features" or not len(shard["rows"]):
                continue
            raise ValueError(f"`{work}` must hold whole shards, got one without {name}.")
        block = shard[name]
        if target is None:
            target = np.lib.format.open_memmap(
                work / f"{name}.npy", mode="w+", dtype=block.dtype, shape=(n, *block.shape[1:])
            )
        target[start : start + len(block)] = block
        start += len(block)
    return target


def _labels(part: Data, model: Model) -> NDArray[np.int64] | None:
    if part.labels is not None:
        labels = np.asarray(part.labels)
        if part.shift == "label":
            return np.full(len(labels), -1)
        return match_labels(labels, model.class_names)
    return np.full(len(part), -1) if part.shift == "label" else None


def _gather(columns: list[Any], which: NDArray[np.int64], local: NDArray[np.int64]) -> NDArray[Any] | None:
    """One column from those of the parts; strings where their kinds differ; none unless all parts have it."""
    if any(column is None for column in columns):
        return None
    arrays = [np.asarray(column) for column in columns]
    if len({array.dtype.kind for array in arrays}) > 1:
        arrays = [array.astype(str) for array in arrays]
    joined = np.concatenate(arrays)
    offsets = np.cumsum([0, *(len(array) for array in arrays[:-1])])
    return joined[offsets[which] + local]
