"""Outputs on disk: a folder of .npy files with outputs.json, an .npz file, or the paper authors' folder.

outputs.json names the files, so replacing it is the one atomic step of an overwrite: new arrays are first
written under names not in use, and the old ones are removed after.
"""

import errno
import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files import locked_folder, read_text
from abstain.outputs.arrays import read_npy, read_npz
from abstain.records import built, parsed

HEADER = "outputs.json"
FORMAT = "abstain.outputs"
VERSION = 1
SKETCH = ".sketch"
ALWAYS_VERIFIED = 1 << 26  # bytes of an array
FIELDS = ("logits", "labels", "features", "weight", "bias", "shift", "domain", "ids", "given", "wrong")
Names = dict[str, tuple[str, ...] | None]
PAPER_FILES = {
    "logits": "pred_logits.npy",
    "labels": "labels.npy",
    "features": "features.npy",
    "weight": "last_layer_weights.npy",
    "bias": "last_layer_bias.npy",
}


def save(
    folder: Path,
    arrays: dict[str, NDArray[Any]],
    class_names: tuple[str, ...] | None,
    given_names: tuple[str, ...] = (),
    /,
    *,
    beside: dict[str, bytes] | None = None,
) -> None:
    """Write the arrays and the header, whole or not at all; several writers take turns.

    With files ``beside`` them, which only a new folder can have, all of it is there at once or nothing is.
    """
    folder, names = folder.resolve(), {"class_names": class_names, "given_names": given_names}
    if not (folder / HEADER).exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileExistsError(
                f"`folder` must be new, empty or hold saved outputs, got {folder}. Choose another place."
            )
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise NotADirectoryError(
                f"`{folder}` must be in a folder, got a file in its way. Choose another."
            ) from None
        if _create(folder, arrays, names, beside or {}):
            return
    if beside:
        raise FileExistsError(f"`folder` must be new, got {folder}. Choose another place.")
    with locked_folder(folder, exclusive=True):
        _overwrite(folder, arrays, names)


def _create(folder: Path, arrays: dict[str, NDArray[Any]], names: Names, beside: dict[str, bytes]) -> bool:
    """Write beside the goal and move there in one step; False if somebody else was there first."""
    scratch = folder.with_name(f".{folder.name}.{os.getpid()}.{token_hex(4)}.partial")
    scratch.mkdir(mode=0o700)
    try:
        files = {name: f"{name}.npy" for name in arrays}
        _write_arrays(scratch, arrays, files)
        for name, contents in beside.items():
            (scratch / name).write_bytes(contents)
        _write_header(scratch, arrays, files, names)
        umask = os.umask(0)
        os.umask(umask)
        scratch.chmod(0o777 & ~umask)
        os.replace(scratch, folder)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST) and (folder / HEADER).exists():
            return False
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)  # gone already when the write went well
    _sync(folder.parent)
    return True


def load(path: Path, /, *, verify: bool | None = None) -> dict[str, Any]:
    """The keyword arguments of `Outputs` that were saved at ``path``; checksums of small arrays are always checked."""
    if not path.exists():
        raise FileNotFoundError(f"`{path}` must exist, got no such file or folder.")
    if path.is_file():
        return _load_npz(path)
    if (path / HEADER).exists():
        with locked_folder(path, exclusive=False):
            return _load_folder(path, verify)
    if (path / PAPER_FILES["logits"]).exists():
        return {name: read_npy(path / file) for name, file in PAPER_FILES.items() if (path / file).exists()}
    if any(path.rglob("*.parquet")):
        raise ValueError(
            f"`{path}` must be a folder of outputs here, got a folder of Parquet files. Count them first: `abstain "
            f"sketch {path} -o a.sketch`; evaluate and calibrate take a.sketch."
        )
    raise ValueError(f"`{path}` must hold {HEADER} or {PAPER_FILES['logits']}, got a folder with neither.")


def _overwrite(folder: Path, arrays: dict[str, NDArray[Any]], names: Names) -> None:
    before = _read_header(folder)["arrays"].values()
    generation = 1
    while any((folder / f"{name}.{generation}.npy").exists() for name in FIELDS):
        generation += 1
    files = {name: f"{name}.{generation}.npy" for name in arrays}
    try:
        _write_arrays(folder, arrays, files)
        _write_header(folder, arrays, files, names)
    except BaseException:
        if {entry.file for entry in _read_header(folder)["arrays"].values()} != set(files.values()):
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


def _write_header(folder: Path, arrays: dict[str, NDArray[Any]], files: dict[str, str], names: Names) -> None:
    header = {
        "format": FORMAT,
        "version": VERSION,
        "arrays": {
            name: {
                "file": files[name],
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "sha256": _checksum(folder / files[name]),
            }
            for name, array in arrays.items()
        },
        **names,
    }
    partial = folder / f"{HEADER}.partial"
    with open(partial, "w", encoding="utf-8") as stream:
        json.dump(header, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    _sync(folder)
    os.replace(partial, folder / HEADER)
    _sync(folder)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class _Entry:
    """An array in the header."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str | None


def _read_header(folder: Path) -> dict[str, Any]:
    file = folder / HEADER
    rule = f"`{file}` must be a header written by Outputs.save"
    text = read_text(file, "a header written by Outputs.save")
    try:
        header = parsed(text)
        if header["format"] == FORMAT and header["version"] != VERSION:
            version = f"{header['version']!r:.20}"
        else:
            version = None
            arrays = built(
                {name: {"sha256": None} | entry for name, entry in header["arrays"].items()},
                dict[str, _Entry],
                place="arrays",
            )
            class_names = built(header["class_names"], tuple[str, ...] | None, place="class_names")
            given_names = built(header.get("given_names", []), tuple[str, ...], place="given_names")
            ours = header["format"] == FORMAT and "logits" in arrays and all(name in FIELDS for name in arrays)
            given = arrays["given"].shape[1] if "given" in arrays else 0
    except (KeyError, TypeError, AttributeError, IndexError):
        raise ValueError(f"{rule}, got another form.") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{rule}, got {error}.") from None
    if version is not None:
        raise ValueError(f"`{file}` must be of format version {VERSION}, got {version}. Read it with a newer abstain.")
    plain = all(Path(entry.file).name == entry.file for entry in arrays.values())
    if not ours or not plain or len(given_names) != given:
        raise ValueError(f"{rule}, got other contents.")
    return {"arrays": arrays, "class_names": class_names, "given_names": given_names}


def _load_folder(folder: Path, verify: bool | None) -> dict[str, Any]:
    header = _read_header(folder)
    fields: dict[str, Any] = {name: header[name] for name in ("class_names", "given_names")}
    for name, entry in header["arrays"].items():
        file = folder / entry.file
        if not file.exists():
            raise ValueError(f"`{file}` must exist as {HEADER} says, got no such file.")
        array = read_npy(file)
        if array.shape != entry.shape or array.dtype.str != entry.dtype:
            raise ValueError(
                f"`{file}` must be {entry.dtype} of shape {list(entry.shape)} as {HEADER} says, "
                f"got {array.dtype.str} of shape {list(array.shape)}."
            )
        wanted = array.nbytes <= ALWAYS_VERIFIED if verify is None else verify
        if wanted and entry.sha256 is not None and _checksum(file) != entry.sha256:
            raise ValueError(f"`{file}` must be as it was saved, got other contents. Collect it again.")
        fields[name] = array
    return fields


def _checksum(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _load_npz(file: Path) -> dict[str, Any]:
    if file.suffix == SKETCH:
        raise ValueError(
            f"`{file}` must hold rows, got a sketch, which holds counts only. It is for evaluate, calibrate, merge and "
            "sketch --edges; name the outputs here."
        )
    known = (*FIELDS, "class_names", "given_names")
    fields = read_npz(file, known)
    if "logits" not in fields or any(name not in known for name in fields):
        raise ValueError(
            f"`{file}` must hold arrays named logits and any of {', '.join(known[1:])}, "
            f"got {', '.join(sorted(fields))}."
        )
    return fields
