"""Compiled kernels on disk: a folder per user, and in it a folder for each state of all that they depend on.

Numba's own cache only checks the file of the kernel, and so runs an old kernel when a function that it inlines has
changed in another file. Here the name of the inner folder is a digest of every source of this package, the versions of
Numba and Python, the processor, and the settings that change compiled code. The cache never raises: what cannot be read
is compiled, and what cannot be written is compiled again by the next process.
"""

import os
import pickle  # as Numba's own cache: read only from a folder that nobody else can write to
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from stat import S_ISDIR
from typing import Any, final

import numba
from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.misc.appdirs import user_cache_dir

SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
MOST_FOLDERS = 8  # of other digests: other environments and earlier versions
SEAL = 32  # bytes of a digest at the beginning of each file


def _sources_digest() -> str | None:
    """Of every source of this package, as it is on disk now; None where there is none."""
    files = sorted(Path(__file__).parent.glob("*.py*"))  # a .pyc where sources are left out
    digest = sha256()
    for file in files:
        digest.update(f"{file.name} ".encode() + sha256(file.read_bytes()).digest())
    return digest.hexdigest() if files else None


SOURCES = _sources_digest()
"""Computed before any kernel is imported."""


@final
class KernelCache(NullCache):
    """The cache of one kernel: a file for each combination of argument types."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._code = sha256(function.__code__.co_code).hexdigest()
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"

    @property
    def cache_path(self) -> str | None:
        """The folder, None where kernels are compiled in memory alone."""
        folder = _folder(cpu_target.target_context.codegen().magic_tuple())
        return None if folder is None else str(folder)

    def _file(self, sig: Any) -> Path | None:
        folder, kinds = self.cache_path, sha256(f"{self._code} {sig}".encode()).hexdigest()[:16]
        return None if folder is None else Path(folder, f"{self._name}-{kinds}.kernel")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What was compiled for these types; None where it is missing or damaged, so that it is compiled."""
        target_context.refresh()
        with suppress(Exception):  # a damaged file can raise anything
            file = self._file(sig)
            contents = b"" if file is None else file.read_bytes()
            if contents[:SEAL] == sha256(contents[SEAL:]).digest():
                return CompileResult._rebuild(target_context, *pickle.loads(contents[SEAL:]))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store what was compiled, if the folder can be written and the sources are as they were imported."""
        partial = None
        try:
            file = self._file(sig)
            if file is None or data.library.has_dynamic_globals or _sources_digest() != SOURCES:
                return
            contents = dumps(data._reduce())
            partial = file.with_suffix(f".{token_hex(4)}.partial")
            partial.write_bytes(sha256(contents).digest() + contents)
            os.replace(partial, file)
        except Exception:  # a full disk must not turn a result into an error
            if partial is not None:
                with suppress(OSError):
                    partial.unlink(missing_ok=True)


@cache
def _folder(processor: tuple[Any, ...]) -> Path | None:
    """The folder for a processor, created if missing; None where other users could write to it."""
    settings = [str(getattr(config, name, None)) for name in SETTINGS]
    depends = (SOURCES, numba.__version__, sys.implementation.cache_tag, sys.hexversion, processor, settings)
    home = Path(getattr(config, "CACHE_DIR", "") or user_cache_dir()).absolute() / f"abstain-{_user()}"
    folder = home / sha256(repr(depends).encode()).hexdigest()[:16]
    try:
        if SOURCES is None or not _is_ours(home):
            return None
        if not folder.is_dir():
            folder.mkdir(mode=0o700)
            _remove_oldest(home, folder)
        with suppress(OSError):  # a folder that can only be read is used too
            os.utime(folder)
    except OSError:
        return None
    return folder


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(home: Path) -> bool:
    """Whether nobody else can put files there: what is there is executed."""
    if not home.is_dir():
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    state = home.lstat()
    if os.name == "nt":
        return True
    if S_ISDIR(state.st_mode) and state.st_uid == _user() and state.st_mode & 0o077:
        home.chmod(0o700)
        state = home.lstat()
    return S_ISDIR(state.st_mode) and state.st_uid == _user() and not state.st_mode & 0o077


def _remove_oldest(home: Path, new: Path) -> None:
    """Remove all folders but the new one and those used last."""
    others = sorted((folder for folder in home.iterdir() if folder != new), key=lambda folder: folder.stat().st_mtime)
    for folder in others[: max(0, len(others) - MOST_FOLDERS)]:
        shutil.rmtree(folder, ignore_errors=True)
