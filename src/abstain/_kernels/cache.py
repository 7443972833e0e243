"""Compiled kernels on disk: a folder per user, and in it one per all that a compiled kernel depends on.

Numba's own cache looks at the file of a kernel alone, and so runs an old kernel after a change to what it inlines. Here
the name of the folder is a digest of every source of this package, of Numba and Python, of the processor and of
settings that change the code. Nothing about the cache can fail: what cannot be read is compiled, what cannot be
written is compiled again by the next process.
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
KEPT = 8  # folders of other digests: of other environments, and of versions before
SEAL = 32  # bytes of a digest at the beginning of each file


def _sources_digest() -> str | None:
    """Of every source of this package, as it is on disk now; None where there is none."""
    files = sorted(Path(__file__).parent.glob("*.py*"))  # a .pyc where sources are left out
    digest = sha256()
    for file in files:
        digest.update(f"{file.name} ".encode() + sha256(file.read_bytes()).digest())
    return digest.hexdigest() if files else None


SOURCES = _sources_digest()
"""Taken before any kernel is imported."""


@final
class KernelCache(NullCache):
    """The cache of one kernel: a file for each kind of arguments."""

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
        """What was compiled for these kinds; None, so that it is compiled, where it is not there or damaged."""
        target_context.refresh()
        with suppress(Exception):  # a damaged file fails in as many ways as there are
            file = self._file(sig)
            contents = b"" if file is None else file.read_bytes()
            if contents[:SEAL] == sha256(contents[SEAL:]).digest():
                return CompileResult._rebuild(target_context, *pickle.loads(contents[SEAL:]))
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, where that is possible and sources are as they were when they were imported."""
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
    """Where kernels for a processor are kept, made where it is not there; None where no folder is the user's alone."""
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
        with suppress(OSError):  # one that can only be read is as good
            os.utime(folder)
    except OSError:
        return None
    return folder


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _is_ours(home: Path) -> bool:
    """Whether nobody else can put files there, which are run."""
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
    """All folders but the new one and those used last."""
    others = sorted((folder for folder in home.iterdir() if folder != new), key=lambda folder: folder.stat().st_mtime)
    for folder in others[: max(0, len(others) - KEPT)]:
        shutil.rmtree(folder, ignore_errors=True)
