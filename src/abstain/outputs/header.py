"""outputs.json, the header of a folder of outputs: which file holds which array, with its checksum and its own."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from numpy.typing import NDArray

from abstain.files import read_text
from abstain.outputs.fields import FIELDS
from abstain.records import built, parsed

HEADER = "outputs.json"
FORMAT = "abstain.outputs"
VERSION = 2
UNSEALED = 1  # the version before, without a checksum of its own
WHAT = "a header written by Outputs.save"


@final
@dataclass(frozen=True)
class Entry:
    """An array in the header."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str | None
    """None in a folder of an old version."""


@final
@dataclass(frozen=True)
class Header:
    """What a folder of outputs holds."""

    arrays: dict[str, Entry]
    class_names: tuple[str, ...] | None
    given_names: tuple[str, ...]

    @property
    def names(self) -> dict[str, tuple[str, ...] | None]:
        """The names of classes and of given confidences."""
        return {"class_names": self.class_names, "given_names": self.given_names}


def write_header(
    folder: Path, arrays: Mapping[str, NDArray[Any]], files: Mapping[str, str], names: Mapping[str, Any], /
) -> None:
    """Name the files that hold the arrays, in one atomic step, when they are safe on the disk."""
    entries = {
        name: {
            "file": files[name],
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "sha256": checksum(folder / files[name]),
        }
        for name, array in arrays.items()
    }
    partial = folder / f"{HEADER}.partial"
    header = {"format": FORMAT, "version": VERSION, "arrays": entries, **names}
    with open(partial, "w", encoding="utf-8") as stream:
        json.dump({"sha256": header_digest(header), **header}, stream, indent=1)
        stream.flush()
        os.fsync(stream.fileno())
    sync(folder)
    os.replace(partial, folder / HEADER)
    sync(folder)


def read_header(folder: Path, /) -> Header:
    """The header of a folder, refused where it is not one of ours."""
    file = folder / HEADER
    text = read_text(file, WHAT)
    try:
        found = parsed(text)
        is_ours = found["format"] == FORMAT
        header = None if is_ours and found["version"] not in (VERSION, UNSEALED) else _header(found)
        is_sound = is_ours and header is not None and _is_sound(header)
        digest = None if found["version"] == UNSEALED else header_digest(found)
        is_as_saved = found.get("sha256") == digest
    except (KeyError, TypeError, AttributeError, IndexError):
        raise ValueError(f"`{file}` must be {WHAT}, got another form.") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"`{file}` must be {WHAT}, got {error}.") from None
    if header is None:
        version = f"{found['version']!r:.20}"
        raise ValueError(
            f"`{file}` must be of format version {VERSION}, got {version}. Read it with the abstain that wrote it."
        )
    if not is_sound or not is_as_saved:
        raise ValueError(f"`{file}` must be {WHAT}, got other contents.")
    return header


def header_digest(header: Mapping[str, Any], /) -> str:
    """SHA-256 of all that a header says, but for this."""
    said = {name: value for name, value in header.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _header(found: dict[str, Any]) -> Header:
    entries = {name: {"sha256": None} | entry for name, entry in found["arrays"].items()}
    return Header(
        built(entries, dict[str, Entry], place="arrays"),
        built(found["class_names"], tuple[str, ...] | None, place="class_names"),
        built(found.get("given_names", []), tuple[str, ...], place="given_names"),
    )


def _is_sound(header: Header) -> bool:
    """Arrays that are known, files of this folder alone, and a name for each given confidence."""
    arrays = header.arrays
    given = arrays["given"].shape[1] if "given" in arrays else 0
    are_known = "logits" in arrays and all(name in FIELDS for name in arrays)
    are_here = all(Path(entry.file).name == entry.file for entry in arrays.values())
    return are_known and are_here and len(header.given_names) == given


def checksum(file: Path, /) -> str:
    """SHA-256 of a file."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync(folder: Path, /) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
