"""The part of a row by its identity, the same on every machine."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
SALT = np.uint64(0x6162737461696E21)


def parts_of(ids: ArrayLike, number: int, /) -> Ints:
    """(n,) from 0 to ``number`` − 1: rows with the same ids are in the same part, whatever else is known of them.

    Whole numbers and texts are mixed by fixed multiplications (Steele et al., 2014), so that no order of ids, no
    machine and no version decides.

    >>> parts_of(["a", "b", "a"], 32), parts_of([1, 2, 3], 32)
    (array([24, 17, 24]), array([27, 17, 27]))
    """
    return ((hashed(ids, salt=int(SALT)) >> np.uint64(32)) * np.uint64(number) >> np.uint64(32)).astype(np.int64)


def hashed(ids: ArrayLike, /, *, salt: int) -> NDArray[np.uint64]:
    """(n,) a number for each of the ids, the same for the same, and unrelated under another salt."""
    names = np.asarray(ids)
    if names.ndim != 1 or names.dtype.kind not in "iuU":
        names = names.astype(str)
    words = _text_words(names) if names.dtype.kind == "U" else names.astype(np.int64).view(np.uint64)
    return _mixed(words ^ np.uint64(salt))


def _text_words(names: NDArray[np.str_]) -> NDArray[np.uint64]:
    """(n,) a number for each text, whatever the width of the array."""
    letters = np.ascontiguousarray(names).view(np.uint32).reshape(len(names), -1)
    found = np.full(len(names), 0xCBF29CE484222325, np.uint64)
    for column in letters.T:
        found = np.where(column == 0, found, (found ^ column) * np.uint64(0x100000001B3))
    return found


def _mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
