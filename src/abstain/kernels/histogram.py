"""Count right and wrong rows by the leading bits of their confidence, in one pass and in every core.

The key of a float32 is a 32-bit whole number in the same order: of 0 and above the bits with the sign flipped, of less
all of them flipped. −0 is 0. NaN and −∞, which no threshold accepts, have key 0; the least finite number is `FIRST`.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import usable_cores
from abstain.kernels.compiled import compiled
from abstain.kernels.radix import sorted_by_bits

Ints = NDArray[np.int64]
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
    """Code, key without its last bits, and error of every row in one number; no code means 0."""
    for i in range(bits.size):
        first = np.int64(code[i]) << (33 - drop) if code.size else np.int64(0)
        packed[i] = first | (np.int64(_key(bits[i])) >> drop) << 1 | np.int64(wrong[i])


@compiled()
def _runs(packed, places, counts, errors):  # type: ignore[no-untyped-def]
    """Rows and errors of each place in ascending rows; how many places there are."""
    found = -1
    for i in range(packed.size):
        place = packed[i] >> 1
        if found < 0 or place != places[found]:
            found += 1
            places[found], counts[found], errors[found] = place, 0, 0
        counts[found] += 1
        errors[found] += packed[i] & 1
    return found + 1


@compiled()
def _count(bits, wrong, shift, table):  # type: ignore[no-untyped-def]
    """Count into ``table``, the rights and wrongs of each bin beside each other."""
    for i in range(bits.size):
        place = np.uint64(_key(bits[i]) >> shift) << np.uint64(1) | np.uint64(wrong[i])
        table[place] += 1


def single(confidence: NDArray[np.floating], /) -> NDArray[np.float32]:
    """The nearest float32, which keeps order; what is finite stays finite, so that nothing becomes −∞."""
    if confidence.dtype == np.float32:
        return np.ascontiguousarray(confidence)
    with np.errstate(over="ignore", invalid="ignore"):
        found = confidence.astype(np.float32)
    if np.isinf(found).any():
        found = np.where(np.isinf(found) & ~np.isinf(confidence), np.copysign(np.float32(LARGEST), found), found)
    return found


def counted_rows(
    confidence: NDArray[np.floating], wrong: NDArray[np.bool_], code: Ints, drop: int, /
) -> tuple[Ints, Ints, Ints]:
    """(m,) code << (32 − drop) | key >> drop of rows, ascending and each once, with their rows and errors.

    An empty ``code`` means 0 for all.
    """
    packed = np.empty(len(confidence), np.int64)
    _pack(single(confidence).view(np.uint32), wrong.view(np.uint8), code, drop, packed)
    highest = int(code.max(initial=0)).bit_length() + 33 - drop
    packed = sorted_by_bits(packed, 0, highest) if len(packed) else packed
    found = np.empty((3, len(packed)), np.int64)
    size = _runs(packed, *found)
    return found[0, :size].copy(), found[1, :size].copy(), found[2, :size].copy()


def add_counts(tables: Ints, confidence: NDArray[np.floating], wrong: NDArray[np.bool_], bits: int, /) -> None:
    """Count rows into ``tables`` (threads, 2 · 2^bits), a table for each thread, whose sum is meant."""
    n, threads = len(confidence), len(tables)

    def work(number: int) -> None:
        for start in range(number * BLOCK, n, threads * BLOCK):
            rows = slice(start, min(start + BLOCK, n))
            values = single(confidence[rows]).view(np.uint32)
            _count(values, wrong[rows].view(np.uint8), np.uint32(32 - bits), tables[number])

    if n <= BLOCK or threads == 1:
        for number in range(threads):
            work(number)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, range(threads)):
            pass


def empty_tables(bits: int, /) -> Ints:
    """A table for each core; pages that no row reaches take no memory."""
    return np.zeros((usable_cores(), 2 << bits), np.int64)
