"""Read files with errors that name them, write them whole or not at all."""

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE

from abstain._errors import (
    AbstainError,
    FileAccessError,
    FileConflictError,
    InvalidInputError,
    MissingFileError,
)

PARTIAL = ".abstain-partial."
LONGEST_NAME, LONGEST_SUFFIX = 200, 16  # of file names, so that what is added to them fits


def write_whole(path: Path, write: Callable[[Path], object], /) -> None:
    """Let ``write`` fill a file next to ``path``, sync it, and move it there in one step; a failure leaves no trace.

    A link stays and the file it names is replaced, which keeps its mode. What a killed process left in the folder is
    removed.
    """
    file = Path(os.path.realpath(path))
    check_output_path(path if file.parent == path.absolute().parent else file)
    _remove_litter(file.parent)
    ending = file.suffix if len(file.suffix) < LONGEST_SUFFIX and file.suffix.isascii() else ""
    partial = file.with_name(f"{PARTIAL}{token_hex(8)}{ending}")
    try:
        with naming(path, partial), _owned(partial, private=file.exists()) as descriptor:
            write(partial)
            os.fsync(descriptor)
            if file.exists():
                os.chmod(partial, S_IMODE(file.stat().st_mode))
            os.replace(partial, file)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: Path, partial: Path | None = None, /) -> Iterator[None]:
    """Inside the context, an OSError without a file name, such as of a full disk, gets that of the output path."""
    try:
        yield
    except AbstainError:
        raise
    except OSError as error:
        if error.filename is not None and str(error.filename) != str(partial):
            raise
        raise OSError(error.errno or errno.EIO, error.strerror or str(error), str(path)) from None


@contextmanager
def _owned(partial: Path, *, private: bool) -> Iterator[int]:
    """A new file, locked inside the context, so that no other process removes it as litter."""
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600 if private else 0o666)
    try:
        flock(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


@cache
def _remove_litter(folder: Path) -> None:
    """Remove, once per process, what killed processes left in a folder; a living one holds a lock on its file."""
    with suppress(OSError):
        for litter in folder.glob(f"{PARTIAL}*"):
            descriptor = os.open(litter, os.O_RDWR)
            try:
                if flock(descriptor):
                    litter.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


def flock(descriptor: int, /, *, exclusive: bool = True) -> bool | None:
    """Lock an open file for as long as it is open: False where somebody else has, None where there are no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


def check_suffix(name: str, file: Path, suffixes: Iterable[str], /) -> None:
    """Refuse a file of another kind."""
    *most, last = suffixes
    if file.suffix.lower() not in (*most, last):
        raise InvalidInputError(f"`{name}` must end in {', '.join(most)}{' or ' * bool(most)}{last}, got {file.name}.")


def check_parent(path: Path, /) -> None:
    """Refuse a path in a folder that does not exist."""
    if not path.absolute().parent.is_dir():
        raise MissingFileError(f"`{path}` must be in a folder that exists, got none. Make {path.parent} first.")


def check_output_path(path: Path, /) -> None:
    """Refuse a path where no file can be written, before a long computation and not after it."""
    check_parent(path)
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device"
        raise FileConflictError(f"`{path}` must be a file to write, got {kind}. Choose another name.")


@contextmanager
def reading(file: Path, what: str, /, *, may_be_pipe: bool = False) -> Iterator[None]:
    """Inside the context, an error of reading names the file and what it should be.

    A pipe, which may never end, is refused unless ``may_be_pipe``.
    """
    try:
        if not may_be_pipe and file.exists() and not file.is_file() and not file.is_dir():
            raise InvalidInputError(f"`{file}` must be {what}, got a pipe or a device. Write it to a file first.")
        yield
    except FileNotFoundError:
        raise MissingFileError(f"`{file}` must exist and be {what}, got no such file.") from None
    except IsADirectoryError:
        raise FileAccessError(f"`{file}` must be {what}, got a folder.") from None
    except PermissionError:
        raise FileAccessError(f"`{file}` must be {what} that you may read, got no permission.") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidInputError(
            f"`{file}` must be {what} in UTF-8, got the byte 0x{byte:02x}. Save it in UTF-8."
        ) from None


def read_text(file: Path, what: str, /) -> str:
    """The text in a file, which should be ``what``."""
    with reading(file, what):
        return file.read_text(encoding="utf-8")


def short_name(file: Path, /) -> str:
    """The name of a file, or a digest of a long name, so that a suffix can be added to it."""
    name = os.fsencode(file.name)
    return file.name if len(name) <= LONGEST_NAME else sha256(name).hexdigest()


def sync_folder(folder: Path, /) -> None:
    """Make new and renamed files survive a crash of the machine, where folders can be synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_text(path: Path, text: str, /) -> None:
    """Write a text, whole or not at all."""
    write_whole(path, lambda partial: partial.write_text(text, encoding="utf-8"))
