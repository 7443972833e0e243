"""Hashes of names and of rows of numbers, the same on every machine and in every order of rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.blocks import row_blocks
from abstain.outputs.taken import Source

Hashes = NDArray[np.uint64]


def hashed(ids: ArrayLike, /, *, salt: int) -> Hashes:
    """(n,) a number for each of the ids, the same for the same, and unrelated under another salt.

    Whole numbers and texts are mixed by fixed multiplications (Steele et al., 2014), so that no order of ids, no
    machine and no version decides.
    """
    names = np.asarray(ids)
    if names.ndim != 1 or names.dtype.kind not in "iuU":
        names = names.astype(str)
    words = _text_words(names) if names.dtype.kind == "U" else names.astype(np.int64).view(np.uint64)
    return _mixed(words ^ np.uint64(salt))


def hashed_rows(rows: Source, /, *, salt: int) -> Hashes:
    """(n,) a number for each row of numbers (n, d) to single precision, the same for the same, −0 being 0."""
    n, width = rows.shape
    factors = hashed(np.arange(width), salt=salt) | np.uint64(1)
    found = np.empty(n, np.uint64)
    for block in row_blocks(n, width):
        with np.errstate(over="ignore"):
            single = np.asarray(rows[block]).astype(np.float32) + np.float32(0)
        found[block] = single.view(np.uint32).astype(np.uint64) @ factors
    return hashed(found.view(np.int64), salt=salt)


def _text_words(names: NDArray[np.str_]) -> Hashes:
    """(n,) a number for each text, whatever the width of the array."""
    letters = np.ascontiguousarray(names).view(np.uint32).reshape(len(names), -1)
    found = np.full(len(names), 0xCBF29CE484222325, np.uint64)
    for column in letters.T:
        found = np.where(column == 0, found, (found ^ column) * np.uint64(0x100000001B3))
    return found


def _mixed(words: Hashes) -> Hashes:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
