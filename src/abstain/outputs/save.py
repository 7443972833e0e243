"""Outputs to disk: a folder of .npy files with outputs.json, whole or not at all.

outputs.json names the files, so replacing it is the one atomic step of an overwrite: new arrays are first
written under names not in use, and the old ones are removed after.
"""

import errno
import os
import shutil
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import FileAccessError, FileConflictError, InvalidInputError
from abstain._io.files import naming, short_name, sync_folder
from abstain._io.locks import locked_folder
from abstain.outputs.columns import SUFFIXES
from abstain.outputs.header import FIELDS, HEADER, read_header, write_header

FILE_SUFFIXES = (*SUFFIXES, ".npz", ".npy", ".sketch")
"""Suffixes of files that hold outputs, or counts of them."""
Names = dict[str, tuple[str, ...] | None]
"""`class_names` and `confidence_names`."""


def save(
    folder: Path,
    arrays: dict[str, NDArray[Any]],
    names: Names,
    /,
    *,
    extra_files: dict[str, bytes] | None = None,
) -> None:
    """Write the arrays and the header with the ``names``, whole or not at all; several writers take turns.

    With ``extra_files``, by name, which only a new folder can have, all of it appears in one step.
    """
    check_folder_name(folder)
    folder = folder.resolve()
    if not (folder / HEADER).exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileConflictError(
                f"`folder` must be new, empty or hold saved outputs, got {folder}. Choose another path."
            )
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise FileAccessError(
                f"`{folder}` must be in a folder, got a file in its path. Choose another path."
            ) from None
        if _create(folder, arrays, names, extra_files or {}):
            return
    if extra_files:
        raise FileConflictError(f"`folder` must be new, got {folder}. Choose another path.")
    with locked_folder(folder, exclusive=True):
        _overwrite(folder, arrays, names)


def check_folder_name(folder: Path, /) -> None:
    """Refuse the name of a file: a table is asked for, and a folder would be written."""
    if folder.suffix.lower() in FILE_SUFFIXES and not folder.is_dir():
        raise InvalidInputError(
            f"`folder` must be the name of a folder, got {folder.name}, that of a file. Outputs are saved as a folder "
            f"of arrays: choose a name such as {folder.stem}."
        )


def _create(folder: Path, arrays: dict[str, NDArray[Any]], names: Names, extra_files: dict[str, bytes]) -> bool:
    """Write next to the folder and move it there in one step; False if another process was there first."""
    scratch = folder.with_name(f".{short_name(folder)}.{os.getpid()}.{token_hex(4)}.partial")
    scratch.mkdir(mode=0o700)
    whole = scratch / "whole"  # of the mode that new folders have
    try:
        whole.mkdir()
        files = {name: f"{name}.npy" for name in arrays}
        with naming(folder):
            _write_arrays(whole, arrays, files)
            for name, contents in extra_files.items():
                (whole / name).write_bytes(contents)
            write_header(whole, arrays, files, names)
        os.replace(whole, folder)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST) and (folder / HEADER).exists():
            return False
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)  # gone already when the write went well
    sync_folder(folder.parent)
    return True


def _overwrite(folder: Path, arrays: dict[str, NDArray[Any]], names: Names) -> None:
    before = read_header(folder).arrays.values()
    generation = 1
    while any((folder / f"{name}.{generation}.npy").exists() for name in FIELDS):
        generation += 1
    files = {name: f"{name}.{generation}.npy" for name in arrays}
    try:
        with naming(folder):
            _write_arrays(folder, arrays, files)
            write_header(folder, arrays, files, names)
    except BaseException:
        if {entry.file for entry in read_header(folder).arrays.values()} != set(files.values()):
            for file in files.values():  # the old header still stands, so these are litter
                (folder / file).unlink(missing_ok=True)
        raise
    litter = (folder / f"{name}.{old}.npy" for name in FIELDS for old in range(1, generation))
    for old in (*(folder / entry.file for entry in before), *litter):
        old.unlink(missing_ok=True)


def _write_arrays(folder: Path, arrays: dict[str, NDArray[Any]], files: dict[str, str]) -> None:
    for name, array in arrays.items():
        with open(folder / files[name], "wb") as stream:
            np.save(stream, array, allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
