"""Tensors of the Open Inference Protocol: JSON or binary, and NumPy."""

import struct
from collections.abc import Sequence
from math import prod
from reprlib import repr as shortened
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError

TYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    "UINT8": np.dtype(np.uint8),
    "UINT16": np.dtype("<u2"),
    "UINT32": np.dtype("<u4"),
    "UINT64": np.dtype("<u8"),
    "INT8": np.dtype(np.int8),
    "INT16": np.dtype("<i2"),
    "INT32": np.dtype("<i4"),
    "INT64": np.dtype("<i8"),
    "FP16": np.dtype("<f2"),
    "FP32": np.dtype("<f4"),
    "FP64": np.dtype("<f8"),
    "BYTES": np.dtype(object),
}
"""NumPy's types by the names of the protocol; BYTES are strings."""
NAMES = {kind.newbyteorder("<").str: name for name, kind in TYPES.items()}
KINDS = {"b": "b", "u": "iu", "i": "iu", "f": "iuf"}
"""What may be read as each kind of number: nothing is rounded, and a truth value is no number."""
LARGEST = float(np.finfo(np.float64).max)


def datatype_of(array: NDArray[Any], /) -> str:
    """The protocol's name of a type."""
    return "BYTES" if array.dtype.kind in "OU" else NAMES[array.dtype.newbyteorder("<").str]


def from_json(name: str, datatype: str, shape: Sequence[int], data: Any, /) -> NDArray[Any]:
    """The array of a tensor whose elements are a list, flat or nested."""
    if datatype == "BYTES":
        if not isinstance(data, list) or not all(isinstance(value, str) for value in data):
            raise InvalidInputError(f"`data` of {name!r} must be a list of strings, got {shortened(data)}.")
        return _shaped(name, np.array(data, dtype=object), shape)
    wanted = TYPES[datatype]
    try:
        given = np.asarray(data)
    except (ValueError, OverflowError):
        given = np.asarray(None)
    if given.dtype.kind not in KINDS[wanted.kind] and given.size:
        raise InvalidInputError(f"`data` of {name!r} must be numbers of type {datatype}, got {shortened(data)}.")
    if wanted.kind in "iu" and given.size:
        limits = np.iinfo(wanted)
        if int(given.min()) < limits.min or int(given.max()) > limits.max:
            raise InvalidInputError(
                f"`data` of {name!r} must be within the range of {datatype}, got {given.min()} to {given.max()}."
            )
    with np.errstate(over="ignore"):
        return _shaped(name, given.astype(wanted), shape)


def from_bytes(name: str, datatype: str, shape: Sequence[int], data: bytes, /) -> NDArray[Any]:
    """The array of a tensor in binary form, little-endian."""
    wanted = TYPES[datatype]
    if datatype == "BYTES":
        return _shaped(name, _unpacked(name, data), shape)
    if len(data) != prod(shape) * wanted.itemsize:
        raise InvalidInputError(
            f"`binary_data_size` of {name!r} must be {min(prod(shape) * wanted.itemsize, 1 << 62)} bytes, as its shape "
            f"and type say, got {len(data)}."
        )
    return np.frombuffer(data, dtype=wanted).reshape(tuple(shape))


def to_list(array: NDArray[Any], /) -> list[Any]:
    """The elements as JSON holds them: NaN is null, and the largest float64 stands for infinity."""
    flat: list[Any] = array.ravel().tolist()
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return flat
    return [None if value != value else max(-LARGEST, min(LARGEST, value)) for value in flat]


def to_bytes(array: NDArray[Any], /) -> bytes:
    """The elements in binary form."""
    if array.dtype.kind not in "OU":
        return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    texts = [str(value).encode("utf-8", "replace") for value in array.ravel().tolist()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


def _unpacked(name: str, data: bytes) -> NDArray[Any]:
    """Strings, each after its length in four bytes."""
    texts, at = [], 0
    while at < len(data):
        end = at + 4 + (struct.unpack_from("<I", data, at)[0] if at + 4 <= len(data) else len(data))
        if end > len(data):
            raise InvalidInputError(f"`{name}` must hold strings after their lengths, got cut-off contents.")
        texts.append(data[at + 4 : end])
        at = end
    try:
        return np.array([text.decode() for text in texts], dtype=object)
    except UnicodeDecodeError:
        raise InvalidInputError(f"`{name}` must hold strings in UTF-8, got bytes that are not.") from None


def _shaped(name: str, array: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    if array.size != prod(shape):
        raise InvalidInputError(
            f"`data` of {name!r} must have as many elements as its shape {list(shape)!s:.60} says, got {array.size}."
        )
    return array.reshape(tuple(shape))
