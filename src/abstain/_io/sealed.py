"""Arrays and a header in one safetensors file with a digest of every bit; a damaged file is refused."""

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as dump_arrays

from abstain._errors import InvalidInputError, reason_of
from abstain._io.files import reading, write_whole
from abstain._io.records import jsonable

Arrays = dict[str, NDArray[Any]]
BLANK = "0" * 64
LARGEST_HEADER = 10_000_000
SEAL = {"sha256", "format", "version"}


def save_sealed(path: Path, kind: str, version: int, header: dict[str, Any], arrays: Arrays, /) -> None:
    """Write ``header`` and at least one array as a file of this ``kind``, such as "abstain.selector"."""
    contents = sealed_bytes(kind, version, header, arrays)
    write_whole(path, lambda partial: partial.write_bytes(contents))


def sealed_bytes(kind: str, version: int, header: dict[str, Any], arrays: Arrays, /) -> bytes:
    """The contents of the file that `save_sealed` writes."""
    sealed = {"sha256": BLANK, "format": kind, "version": version, **header}  # the blank first: no name looks like it
    contents = dump_arrays(
        {name: np.ascontiguousarray(array) for name, array in arrays.items()},
        metadata={"abstain": json.dumps(jsonable(sealed), allow_nan=False)},
    )
    digest = hashlib.sha256(contents).hexdigest()
    return contents.replace(BLANK.encode(), digest.encode(), 1)


def seal(contents: bytes, /) -> str:
    """The digest in the contents of a sealed file."""
    return str(_header(contents, "`contents` must be sealed")["sha256"])


def kind_of(contents: bytes, /) -> str | None:
    """The kind of a sealed file from its contents, None where they are not sealed."""
    try:
        return str(_header(contents, "").get("format"))
    except InvalidInputError:
        return None


def load_sealed(file: Path, kind: str, version: int, /, *, writer: str, again: str) -> tuple[dict[str, Any], Arrays]:
    """The header and the arrays of a file of this kind; an error where it is of another kind or version, or damaged.

    ``writer`` names what writes such files, ``again`` how to make a new one.
    """
    word = kind.rpartition(".")[2]
    with reading(file, f"a {word} written by {writer}"):
        contents = file.read_bytes()
    return unsealed(contents, str(file), kind, version, writer=writer, again=again)


def unsealed(
    contents: bytes, file: str, kind: str, version: int, /, *, writer: str, again: str
) -> tuple[dict[str, Any], Arrays]:
    """As `load_sealed`, from the contents of the file."""
    word = kind.rpartition(".")[2]
    header = _header(contents, f"`{file}` must be a {word} written by {writer}")
    if header.get("format") != kind:
        other = str(header.get("format")).rpartition(".")[2]
        raise InvalidInputError(f"`{file}` must be a {word}, got another kind of file ({other}).")
    if header.get("version") != version:
        raise InvalidInputError(
            f"`{file}` must be of version {version}, got {header.get('version')}. Use the abstain that wrote it, or "
            f"{again}."
        )
    digest = str(header.get("sha256"))
    if len(digest) != 64 or contents.count(digest.encode()) != 1:
        raise InvalidInputError(f"`{file}` must be whole and unaltered, got no valid digest.")
    blank = contents.replace(digest.encode(), BLANK.encode(), 1)
    if hashlib.sha256(blank).hexdigest() != digest:
        raise InvalidInputError(f"`{file}` must be whole and unaltered, got contents that do not match their digest.")
    try:
        return {name: value for name, value in header.items() if name not in SEAL}, load_arrays(contents)
    except (SafetensorError, ValueError) as error:
        raise InvalidInputError(f"`{file}` must be a {word}, got {reason_of(error)}.") from None


@contextmanager
def making(rule: str, /) -> Iterator[None]:
    """Inside the context, an error of a header or arrays that do not fit begins with the ``rule``."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, zlib.error) as error:
        raise InvalidInputError(f"{rule}, got {reason_of(error)}.") from None


def as_read(header: dict[str, Any], /) -> dict[str, Any]:
    """The header as it will be read from its file."""
    return cast(dict[str, Any], json.loads(json.dumps(jsonable(header), allow_nan=False)))


def _header(contents: bytes, rule: str) -> dict[str, Any]:
    """The metadata of a safetensors file; no length in it is trusted."""
    try:
        (length,) = struct.unpack_from("<Q", contents)
        if length > min(len(contents) - 8, LARGEST_HEADER):
            raise InvalidInputError("a header longer than the file")
        header = json.loads(json.loads(contents[8 : 8 + length])["__metadata__"]["abstain"])
    except (struct.error, ValueError, KeyError, TypeError, RecursionError):
        raise InvalidInputError(f"{rule}, got other or cut-off contents.") from None
    if not isinstance(header, dict):
        raise InvalidInputError(f"{rule}, got a header that is no object.")
    return header
