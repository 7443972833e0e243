"""Whether a run may go on: what it was begun with, what it is asked for now, and what runs that were killed left."""

import json
import os
import shutil
from pathlib import Path
from secrets import token_hex
from typing import Any

from abstain.files import is_alive, write_whole

RECORD = "collect.json"
Settings = dict[str, Any]


def work_folder(goal: Path, /) -> Path:
    """Where the shards of a run are until it is done."""
    return goal.parent / f".{goal.name}.collect"


def is_finished(goal: Path, settings: Settings, /) -> bool:
    """Whether the result is there; one made with other settings is an error that names them."""
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


def open_run(work: Path, settings: Settings, /) -> None:
    """Start a run, or make sure that the one begun there is the same; one without a shard yet is begun anew."""
    work.mkdir(parents=True, exist_ok=True)
    file = work / "settings.json"
    if not file.exists() or not any(work.glob("shard-*.npz")):
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


def remove(work: Path, /) -> None:
    """Take the shards away in one step before any is deleted, so that no other run can find some of them."""
    gone = work.with_name(f"{work.name}.{os.getpid()}.{token_hex(4)}.gone")
    os.replace(work, gone)
    shutil.rmtree(gone)


def clean(goal: Path, /) -> None:
    """Remove what runs that were killed left beside the goal: never what a living process may be writing."""
    if not goal.parent.is_dir():
        return
    for litter in (*goal.parent.glob(f".{goal.name}.collect.*.gone"), *goal.parent.glob(f".{goal.name}.*.partial")):
        owner = litter.name.rsplit(".", 3)[-3]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(litter, ignore_errors=True)


def _changed(before: Settings, now: Settings) -> str:
    """The names of what is not as it was, in words; nothing if all is."""
    found = [name for name in now if name != "data" and before.get(name) != now[name]]
    old, new = before.get("data") or [], now["data"]
    if len(old) != len(new):
        found.append(f"data ({len(old)} data sets, now {len(new)})")
    for number, (one, other) in enumerate(zip(old, new, strict=False), start=1):
        which = f" of data set {number}" if len(new) > 1 else ""
        found += [f"{name}{which}" for name in other if one.get(name) != other[name]]
    return ", ".join(found)
