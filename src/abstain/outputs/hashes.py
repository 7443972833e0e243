"""Hashes of names and of rows of numbers, the same on every machine and in every order of rows; a digest of outputs."""

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._kernels.blocks import row_blocks
from abstain.outputs.header import FIELDS
from abstain.outputs.outputs import Outputs
from abstain.outputs.rows import Source

Hashes = NDArray[np.uint64]


def hashed(ids: ArrayLike, /, *, salt: int) -> Hashes:
    """(n,) a number for each id, the same for equal ids and unrelated under another salt.

    Integers and strings are mixed by fixed multiplications (Steele et al., 2014), so that the result depends neither on
    the order of ids nor on the machine.
    """
    names = np.asarray(ids)
    if names.ndim != 1 or names.dtype.kind not in "iuU":
        names = names.astype(str)
    words = _string_hashes(names) if names.dtype.kind == "U" else names.astype(np.int64).view(np.uint64)
    return _mixed(words ^ np.uint64(salt))


def hashed_rows(rows: Source, /, *, salt: int) -> Hashes:
    """(n,) a number for each row of numbers (n, d) in single precision, the same for equal rows; −0 equals 0."""
    n, width = rows.shape
    factors = hashed(np.arange(width), salt=salt) | np.uint64(1)
    sums = np.empty(n, np.uint64)
    for block in row_blocks(n, width):
        with np.errstate(over="ignore"):
            single = np.asarray(rows[block]).astype(np.float32) + np.float32(0)
        sums[block] = single.view(np.uint32).astype(np.uint64) @ factors
    return hashed(sums.view(np.int64), salt=salt)


def _string_hashes(names: NDArray[np.str_]) -> Hashes:
    """(n,) a number for each string, whatever the width of the array."""
    characters = np.ascontiguousarray(names).view(np.uint32).reshape(len(names), -1)
    hashes = np.full(len(names), 0xCBF29CE484222325, np.uint64)
    for column in characters.T:
        hashes = np.where(column == 0, hashes, (hashes ^ column) * np.uint64(0x100000001B3))
    return hashes


def _mixed(words: Hashes) -> Hashes:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def outputs_digest(outputs: Outputs, /) -> str:
    """SHA-256 of every array, row by row: the same for the same outputs in any kind of file.

    >>> a, b = (Outputs(logits=[[2.0, 0.0]], labels=[0], ids=np.array(["x"], dtype=kind)) for kind in ("<U1", "<U9"))
    >>> outputs_digest(a) == outputs_digest(b)
    True
    """
    sha = sha256()
    for name in FIELDS:
        array: Any = outputs.source(name)
        if array is None:
            continue
        sha.update(f"{name} {array.shape} ".encode())
        columns = array.shape[1] if len(array.shape) > 1 else 1
        for block in row_blocks(array.shape[0], max(1, columns)):
            sha.update(_bytes(np.asarray(array[block])))
    for names in (outputs.confidence_names, outputs.class_names):
        sha.update(repr(names).encode("utf-8", "surrogatepass"))
    return sha.hexdigest()


def _bytes(part: np.ndarray[Any, Any]) -> bytes:
    """Numbers in one byte order, strings by their characters, whatever the width of the array."""
    if part.dtype.kind in "OUS":
        names = [str(name) for name in part.ravel().tolist()]
        return "".join(f"{len(name)} {name}" for name in names).encode("utf-8", "surrogatepass")
    kind = {"f": part.dtype.newbyteorder("<"), "b": np.dtype(bool)}.get(part.dtype.kind, np.dtype("<i8"))
    return part.dtype.kind.encode() + np.ascontiguousarray(part, dtype=kind).tobytes()
