"""outputs.json, the header of a folder of outputs: which file holds which array, with checksums."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from numpy.typing import NDArray

from abstain._errors import InvalidInputError, reason_of
from abstain._io.files import read_text, sync_folder
from abstain._io.records import built, parsed

ROW_FIELDS = ("logits", "labels", "features", "shift", "domain", "ids", "confidences", "wrong", "graded")
HEAD_FIELDS = ("weight", "bias")
FIELDS = (*ROW_FIELDS, *HEAD_FIELDS)
"""The arrays that outputs may have, in the order in which they are written and digested."""
HEADER = "outputs.json"
FORMAT = "abstain.outputs"
VERSION = 2
WHAT = "a header written by Outputs.save"


@final
@dataclass(frozen=True)
class Entry:
    """An array in the header."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str


@final
@dataclass(frozen=True)
class Header:
    """What a folder of outputs holds."""

    arrays: dict[str, Entry]
    class_names: tuple[str, ...] | None
    confidence_names: tuple[str, ...]


def write_header(
    folder: Path, arrays: Mapping[str, NDArray[Any]], files: Mapping[str, str], names: Mapping[str, Any], /
) -> None:
    """Write the header in one atomic step, after the arrays are on the disk."""
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
    sync_folder(folder)
    os.replace(partial, folder / HEADER)
    sync_folder(folder)


def read_header(folder: Path, /) -> Header:
    """The header of a folder; an error where it was not written by `write_header`."""
    file = folder / HEADER
    text = read_text(file, WHAT)
    try:
        contents = parsed(text)
        is_ours, version = contents["format"] == FORMAT, contents["version"]
        header = _header(contents) if version == VERSION else None
        is_sound = is_ours and header is not None and _is_sound(header)
    except (KeyError, TypeError, AttributeError, IndexError):
        raise InvalidInputError(f"`{file}` must be {WHAT}, got a file without its fields.") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"`{file}` must be {WHAT}, got {reason_of(error)}.") from None
    if is_ours and header is None:
        raise InvalidInputError(
            f"`{file}` must be of format version {VERSION}, got {version!r:.20}. "
            "Read it with the abstain that wrote it."
        )
    if header is None or not is_sound or contents.get("sha256") != header_digest(contents):
        raise InvalidInputError(f"`{file}` must be {WHAT}, got contents that were changed after it was written.")
    return header


def header_digest(header: Mapping[str, Any], /) -> str:
    """SHA-256 of a header without its own checksum."""
    rest = {name: value for name, value in header.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _header(contents: dict[str, Any]) -> Header:
    return Header(
        built(contents["arrays"], dict[str, Entry], where="arrays"),
        built(contents["class_names"], tuple[str, ...] | None, where="class_names"),
        built(contents["confidence_names"], tuple[str, ...], where="confidence_names"),
    )


def _is_sound(header: Header) -> bool:
    """Whether all arrays are known, all files in this folder, and each confidence has a name."""
    arrays = header.arrays
    columns = arrays["confidences"].shape[1] if "confidences" in arrays else 0
    are_known = "logits" in arrays and all(name in FIELDS for name in arrays)
    are_here = all(Path(entry.file).name == entry.file for entry in arrays.values())
    return are_known and are_here and len(header.confidence_names) == columns


def checksum(file: Path, /) -> str:
    """SHA-256 of a file."""
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
