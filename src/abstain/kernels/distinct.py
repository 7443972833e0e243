"""Numbers for names: the same number for the same name, and no promise which."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.compiled import array, compiled, whole, word

Ints = NDArray[np.int64]
FEW = 1 << 16  # names: a sort of them is as quick


@compiled((array(word, 2), array(whole), array(whole)))
def _number(words, table, number):  # type: ignore[no-untyped-def]
    """Number the rows of ``words`` by way of a hash table with room for twice as many; how many numbers there are."""
    found, last = 0, np.uint64(table.size - 1)
    for i in range(words.shape[0]):
        digest = np.uint64(0)
        for j in range(words.shape[1]):
            digest = (digest ^ np.uint64(words[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            digest ^= digest >> np.uint64(29)
        place = digest & last
        while True:
            other = table[place]
            if other < 0:
                table[place], number[i] = i, found
                found += 1
                break
            j = 0
            while j < words.shape[1] and words[i, j] == words[other, j]:
                j += 1
            if j == words.shape[1]:
                number[i] = number[other]
                break
            place = (place + np.uint64(1)) & last
    return found


def numbered(names: NDArray[Any], /) -> tuple[Ints, int]:
    """(n,) a number from 0 on for each name, and how many there are; texts and whole numbers need no sort.

    >>> numbered(np.array(["b", "a", "b"]))
    (array([1, 0, 1]), 2)
    """
    if names.dtype.kind not in "Uiu" or not names.dtype.itemsize or len(names) <= FEW:
        distinct, number = np.unique(names, return_inverse=True)
        return number.astype(np.int64), len(distinct)
    whole = np.ascontiguousarray(names if names.dtype.kind == "U" else names.astype(names.dtype.kind + "8"))
    number = np.empty(len(names), np.int64)
    table = np.full(1 << (2 * len(names)).bit_length(), -1, np.int64)
    return number, int(_number(whole.view(np.uint32).reshape(len(names), -1), table, number))
