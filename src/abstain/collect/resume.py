"""Whether a run may go on: who is at work on it, what it was begun with, and what runs that were killed left."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import Any

from abstain.collect.part import Part
from abstain.files import Lock, is_alive, short_name, write_whole
from abstain.fingerprint import digest

LOCK = "run.lock"
RECORD = "collect.json"
STARTING = 10.0  # seconds that a part waits for another that is being started, or looks whether all are done
Settings = dict[str, Any]


def work_folder(goal: Path, /) -> Path:
    """Where the shards of a run are until it is done."""
    return goal.parent / f".{short_name(goal)}.collect"


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


@contextmanager
def at_work(goal: Path, settings: Settings, part: Part | None, /) -> Iterator[Lock]:
    """Be the only process at work on a run, or on a part of it, inside the context; its settings are those of the run.

    Others are refused with the number of this process. The lock, in the folder of the run, is shared among parts.
    """
    with ExitStack() as locks:
        while (lock := _run_lock(goal, settings, part, locks)) is None:
            locks.close()
        yield lock


def _run_lock(goal: Path, settings: Settings, part: Part | None, locks: ExitStack) -> Lock | None:
    """The lock of the run, taken; None if the run ended meanwhile, which takes its folder away."""
    work = work_folder(goal)
    work.mkdir(parents=True, exist_ok=True)
    try:
        lock = locks.enter_context(Lock(work / LOCK))
        alone = lock.take()
        if not lock.is_in_place():
            return None
        if alone:
            _open_run(work, settings)
        if part is None:
            _check_taken(alone, goal, lock)
            return lock
        own = locks.enter_context(Lock(work / f"part-{part.number}-of-{part.of}.lock"))
        _check_taken(own.take(), goal, own)
    except FileNotFoundError:
        if work.exists():
            raise
        return None
    _check_taken(lock.take(exclusive=False, patience=STARTING), goal, lock)
    if not lock.is_in_place():
        return None
    _check_settings(work, settings)
    return lock


def _check_taken(taken: bool, goal: Path, lock: Lock) -> None:
    if not taken:
        raise BlockingIOError(
            f"`folder` must not be in use, got {goal} with another process at work on it{lock.holder()}. Wait for it, "
            "or choose another folder; several processes share one with --part."
        )


def _open_run(work: Path, settings: Settings) -> None:
    """Start a run, or make sure that the one begun there is the same; one without a shard yet is begun again.

    So is one whose settings cannot be read: shards know which run they are of.
    """
    for scratch in work.glob("joined-*"):  # of a process that was killed
        shutil.rmtree(scratch, ignore_errors=True)
    if _settings(work) is None or not any(work.glob("shard-*")):
        contents = json.dumps({"settings": settings, "digest": digest(settings)}).encode()
        write_whole(work / "settings.json", lambda partial: partial.write_bytes(contents))
    _check_settings(work, settings)


def _check_settings(work: Path, settings: Settings) -> None:
    changed = _changed(_settings(work) or {}, settings)
    if changed:
        raise ValueError(
            f"`folder` must be new for another model, data or setting, got a run begun with other {changed} in {work}. "
            f"Choose another place, or remove {work} to begin again."
        )


def _settings(work: Path) -> Settings | None:
    """What the run was begun with, None where that is not there or damaged."""
    try:
        found = json.loads((work / "settings.json").read_text(encoding="utf-8"))
        return found["settings"] if digest(found["settings"]) == found["digest"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove(work: Path, /) -> None:
    """Take the shards away in one step before any is deleted, so that no other run can find some of them."""
    gone = work.with_name(f"{work.name}.{os.getpid()}.{token_hex(4)}.gone")
    os.replace(work, gone)
    shutil.rmtree(gone)


def remove_left(goal: Path, /) -> None:
    """Remove the shards of a run that is done, unless another process is about to."""
    work = work_folder(goal)
    with suppress(FileNotFoundError), Lock(work / LOCK) as lock:
        if lock.take() and lock.is_in_place():
            remove(work)


def clean(goal: Path, /) -> None:
    """Remove what runs that were killed left beside the goal: never what a living process may be writing."""
    if not goal.parent.is_dir():
        return
    name = escape(short_name(goal))
    for litter in (*goal.parent.glob(f".{name}.collect.*.gone"), *goal.parent.glob(f".{name}.*.partial")):
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
