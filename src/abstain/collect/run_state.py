"""Whether a run may be resumed: who is at work on it, its settings, and files that killed runs left."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from glob import escape
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, Self

from abstain._errors import FileConflictError, FileInUseError, InvalidInputError
from abstain._io.files import short_name, write_whole
from abstain._io.fingerprint import digest
from abstain._io.locks import Lock, is_alive

LOCK = "run.lock"
RECORD = "collect.json"
STARTING = 10.0  # seconds a part waits for one that is starting, or between checks that all are done
Settings = dict[str, Any]


class Part(NamedTuple):
    """The part ``number`` (from 1) of a run that ``of`` processes share: every ``of``-th shard."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str, /) -> Self:
        """From 2/4."""
        number, slash, of = text.partition("/")
        if slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of):
            return cls(int(number), int(of))
        raise InvalidInputError(f"`part` must be NUMBER/OF with a number from 1 to OF, such as 2/4, got {text!r}.")

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def work_folder(folder: Path, /) -> Path:
    """The folder of a run's shards until it is done."""
    return folder.parent / f".{short_name(folder)}.collect"


def is_finished(folder: Path, settings: Settings, /) -> bool:
    """Whether the outputs are there; an error names the settings that differ from theirs."""
    record = folder / RECORD
    if not record.exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileConflictError(f"`folder` must be new or a run of collect, got {folder}. Choose another path.")
        return False
    try:
        before = json.loads(record.read_text(encoding="utf-8"))
        changed = _changed({name: before.get(name) for name in settings}, settings)
    except (ValueError, AttributeError, TypeError):
        raise InvalidInputError(
            f"`{record}` must be a record of collect, got other contents. Choose another path."
        ) from None
    if changed:
        raise FileConflictError(
            f"`folder` must be new for another model, data or setting, got {folder}, made with other {changed}. "
            "Choose another path, or remove it."
        )
    return True


@contextmanager
def at_work(folder: Path, settings: Settings, part: Part | None, /) -> Iterator[Lock]:
    """Hold the lock of a run, or of a part of it, inside the context, and check its settings.

    Other processes are refused with the id of this one. The lock, in the folder of the run, is shared among parts.
    """
    with ExitStack() as locks:
        while (lock := _run_lock(folder, settings, part, locks)) is None:
            locks.close()
        yield lock


def _run_lock(folder: Path, settings: Settings, part: Part | None, locks: ExitStack) -> Lock | None:
    """The lock of the run; None if the run ended in the meantime, which removes its folder."""
    work = work_folder(folder)
    work.mkdir(parents=True, exist_ok=True)
    try:
        lock = locks.enter_context(Lock(work / LOCK))
        alone = lock.take()
        if not lock.is_in_place():
            return None
        if alone:
            _open_run(work, settings)
        if part is None:
            _check_taken(alone, folder, lock)
            return lock
        own = locks.enter_context(Lock(work / f"part-{part.number}-of-{part.of}.lock"))
        _check_taken(own.take(), folder, own)
    except FileNotFoundError:
        if work.exists():
            raise
        return None
    _check_taken(lock.take(exclusive=False, patience=STARTING), folder, lock)
    if not lock.is_in_place():
        return None
    _check_settings(work, settings)
    return lock


def _check_taken(taken: bool, folder: Path, lock: Lock) -> None:
    if not taken:
        raise FileInUseError(
            f"`folder` must not be in use, got {folder} with another process at work on it{lock.holder()}. Wait for it "
            "or choose another folder; several processes share one with --part."
        )


def _open_run(work: Path, settings: Settings) -> None:
    """Start a run, or check that the one in the folder has the same settings.

    A run without a shard, or whose settings cannot be read, is started again: shards know their run.
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
        raise InvalidInputError(
            f"`folder` must be new for another model, data or setting, got a run with other {changed} in {work}. "
            f"Choose another path, or remove {work} to start again."
        )


def _settings(work: Path) -> Settings | None:
    """The settings of the run, None where they are missing or damaged."""
    try:
        stored = json.loads((work / "settings.json").read_text(encoding="utf-8"))
        return stored["settings"] if digest(stored["settings"]) == stored["digest"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remove(work: Path, /) -> None:
    """Move the shards away in one step before any is deleted, so that no other run sees some of them."""
    gone = work.with_name(f"{work.name}.{os.getpid()}.{token_hex(4)}.gone")
    os.replace(work, gone)
    shutil.rmtree(gone)


def remove_left(folder: Path, /) -> None:
    """Remove the shards of a run that is done, unless another process is about to."""
    work = work_folder(folder)
    with suppress(FileNotFoundError), Lock(work / LOCK) as lock:
        if lock.take() and lock.is_in_place():
            remove(work)


def clean(folder: Path, /) -> None:
    """Remove files of killed runs next to the output folder, never those of a living process."""
    if not folder.parent.is_dir():
        return
    name = escape(short_name(folder))
    for litter in (*folder.parent.glob(f".{name}.collect.*.gone"), *folder.parent.glob(f".{name}.*.partial")):
        owner = litter.name.rsplit(".", 3)[-3]
        if owner.isdigit() and not is_alive(int(owner)):
            shutil.rmtree(litter, ignore_errors=True)


def _changed(before: Settings, now: Settings) -> str:
    """The names of settings that differ, separated by commas; empty if none does."""
    names = [name for name in now if name != "data" and before.get(name) != now[name]]
    old, new = before.get("data") or [], now["data"]
    if len(old) != len(new):
        names.append(f"data ({len(old)} data sets, now {len(new)})")
    for number, (first, second) in enumerate(zip(old, new, strict=False), start=1):
        which = f" of data set {number}" if len(new) > 1 else ""
        names += [f"{name}{which}" for name in second if first.get(name) != second[name]]
    return ", ".join(names)
