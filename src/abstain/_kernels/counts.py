"""Counts: right and wrong rows by the leading bits of their confidence, and numbers for names.

The key of a float32 is a 32-bit integer in the same order: of 0 and above the bits with the sign flipped, of less
all of them flipped. −0 is 0. NaN and −∞, which no threshold accepts, have key 0; the least finite number is `FIRST`.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._kernels.blocks import usable_cores
from abstain._kernels.compilation import array, compiled, whole, word

FIRST = 0x00800000  # −3.4e38
LAST = 0xFF800000  # ∞
BLOCK = 1 << 20
LARGEST = float(np.finfo(np.float32).max)


@compiled()
def _key(bits):  # type: ignore[no-untyped-def]
    sign = np.uint32(bits >> np.uint32(31))
    key = np.uint32(bits ^ (np.uint32(0x80000000) | (np.uint32(0) - sign)))
    key = np.uint32(0x80000000) if bits == np.uint32(0x80000000) else key
    return np.uint32(0) if key < np.uint32(FIRST) or key > np.uint32(LAST) else key


@compiled()
def _pack(bits, wrong, code, drop, packed):  # type: ignore[no-untyped-def]
    """Code, key without its last bits, and error of every row as one integer; without codes, code 0."""
    for i in range(bits.size):
        first = np.int64(code[i]) << (33 - drop) if code.size else np.int64(0)
        packed[i] = first | (np.int64(_key(bits[i])) >> drop) << 1 | np.int64(wrong[i])


@compiled()
def _runs(packed, bins, counts, errors):  # type: ignore[no-untyped-def]
    """Rows and errors of each bin in ascending rows; how many bins there are."""
    run = -1
    for i in range(packed.size):
        bin_number = packed[i] >> 1
        if run < 0 or bin_number != bins[run]:
            run += 1
            bins[run], counts[run], errors[run] = bin_number, 0, 0
        counts[run] += 1
        errors[run] += packed[i] & 1
    return run + 1


@compiled()
def _count(bits, wrong, shift, table):  # type: ignore[no-untyped-def]
    """Count into ``table``, the rights and wrongs of each bin in adjacent columns."""
    for i in range(bits.size):
        cell = np.uint64(_key(bits[i]) >> shift) << np.uint64(1) | np.uint64(wrong[i])
        table[cell] += 1


def as_single(confidence: NDArray[np.floating], /) -> NDArray[np.float32]:
    """The nearest float32, which keeps order; what is finite stays finite, so that nothing becomes −∞."""
    if confidence.dtype == np.float32:
        return np.ascontiguousarray(confidence)
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = confidence.astype(np.float32)
    if np.isinf(narrow).any():
        narrow = np.where(np.isinf(narrow) & ~np.isinf(confidence), np.copysign(np.float32(LARGEST), narrow), narrow)
    return narrow


def counted_rows(
    confidence: NDArray[np.floating], wrong: NDArray[np.bool_], code: Ints, drop: int, /
) -> tuple[Ints, Ints, Ints]:
    """(m,) code << (32 − drop) | key >> drop of rows, ascending and each once, with their rows and errors.

    An empty ``code`` stands for code 0 in every row.
    """
    packed = np.empty(len(confidence), np.int64)
    _pack(as_single(confidence).view(np.uint32), wrong.view(np.uint8), code, drop, packed)
    packed.sort()
    runs = np.empty((3, len(packed)), np.int64)
    size = _runs(packed, *runs)
    return runs[0, :size].copy(), runs[1, :size].copy(), runs[2, :size].copy()


def add_counts(tables: Ints, confidence: NDArray[np.floating], wrong: NDArray[np.bool_], bits: int, /) -> None:
    """Count rows into ``tables`` (threads, 2 · 2^bits), a table for each thread; the counts are their sum."""
    n, threads = len(confidence), len(tables)

    def work(number: int) -> None:
        for start in range(number * BLOCK, n, threads * BLOCK):
            rows = slice(start, min(start + BLOCK, n))
            values = as_single(confidence[rows]).view(np.uint32)
            _count(values, wrong[rows].view(np.uint8), np.uint32(32 - bits), tables[number])

    if n <= BLOCK or threads == 1:
        for number in range(threads):
            work(number)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(threads)):
            pass


def empty_tables(bits: int, /) -> Ints:
    """A table of zeros for each core; pages without any row take no memory."""
    return np.zeros((usable_cores(), 2 << bits), np.int64)


FEW = 1 << 16  # names, up to which sorting is as fast


@compiled((array(word, 2), array(whole), array(whole)))
def _number(words, table, number):  # type: ignore[no-untyped-def]
    """Number distinct rows of ``words`` by a hash table of at least twice their size; how many numbers there are."""
    count, last = 0, np.uint64(table.size - 1)
    for i in range(words.shape[0]):
        digest = np.uint64(0)
        for j in range(words.shape[1]):
            digest = (digest ^ np.uint64(words[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            digest ^= digest >> np.uint64(29)
        slot = digest & last
        while True:
            other = table[slot]
            if other < 0:
                table[slot], number[i] = i, count
                count += 1
                break
            j = 0
            while j < words.shape[1] and words[i, j] == words[other, j]:
                j += 1
            if j == words.shape[1]:
                number[i] = number[other]
                break
            slot = (slot + np.uint64(1)) & last
    return count


def numbered(names: NDArray[Any], /) -> tuple[Ints, int]:
    """(n,) a number from 0 on for each name, and how many there are; strings and integers need no sort.

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
