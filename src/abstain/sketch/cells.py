"""Rows and errors by population, part and bin: integers that add up to the same sums in any order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arrays import Ints
from abstain._kernels.counts import add_counts, counted_rows, empty_tables, numbered
from abstain.outputs.hashes import hashed
from abstain.sketch.bins import ALL, Bins

Words = NDArray[np.uint64]
DENSE = 22  # bits of a table of all bins, 64 MB for each core at most
LOW = np.uint64(0xFFFFFFFF)
SALT = np.uint64(0x6162737461696E21)
Stratum = tuple[str, ...]
MOST = 1 << 30  # populations times parts


@final
@dataclass(frozen=True, eq=False)
class Cells:
    """The cells with rows, (m,) each, ascending; the same for the same rows in any order."""

    slots: Words
    """The code of population and part in the upper 32 bits, the bin in the lower."""
    counts: Ints
    errors: Ints

    @classmethod
    def of(cls, confidence: NDArray[np.floating], wrong: NDArray[np.bool_], code: Ints, bins: Bins, /) -> Self:
        """Count rows, each in the population of its code; an empty ``code`` means 0 for all."""
        if not code.size and bins.bits is not None and bins.bits <= DENSE and len(confidence) >> bins.bits:
            tables = empty_tables(bins.bits)
            add_counts(tables, confidence, wrong, bins.bits)
            return cls.merge([cls.of_table(table) for table in tables])
        drop = 0 if bins.bits is None else ALL - bins.bits
        slots, counts, errors = counted_rows(confidence, wrong, code, drop)
        last = slots & ((1 << (ALL - drop)) - 1)
        number = last if bins.bits is not None else bins.of_keys(last.astype(np.uint32))
        return cls(*_summed((slots >> (ALL - drop) << 32 | number).astype(np.uint64), counts, errors))

    @classmethod
    def of_table(cls, table: Ints, /) -> Self:
        """The cells of a table with the correct and wrong rows of each bin."""
        pairs = table.reshape(-1, 2)
        used = np.unique(np.flatnonzero(table) >> 1)  # few of many
        return cls(used.astype(np.uint64), pairs[used].sum(axis=1), pairs[used, 1])

    @classmethod
    def merge(cls, parts: Sequence["Cells"], /) -> Self:
        """All parts together."""
        slots = np.concatenate([part.slots for part in parts] or [np.empty(0, np.uint64)])
        order = np.argsort(slots, kind="stable")
        counts, errors = (
            np.concatenate([getattr(part, name) for part in parts] or [np.empty(0, np.int64)])[order]
            for name in ("counts", "errors")
        )
        return cls(*_summed(slots[order], counts, errors))

    def with_codes(self, codes: Ints, /) -> Self:
        """The cells with ``codes[c]`` for each code c, those of the same code added up."""
        slots = codes.astype(np.uint64)[self.codes] << np.uint64(32) | (self.slots & LOW)
        return type(self).merge([type(self)(slots, self.counts, self.errors)])

    def moved(self, strata: Ints, parts: int, /) -> Self:
        """The cells under new numbers of their populations, of so many parts each, in the same order."""
        stratum, part = np.divmod(self.codes, parts)
        codes = (strata[stratum] * parts + part).astype(np.uint64)
        return type(self)(codes << np.uint64(32) | (self.slots & LOW), self.counts, self.errors)

    @property
    def codes(self) -> Ints:
        """(m,) the code of each cell."""
        return (self.slots >> np.uint64(32)).astype(np.int64)

    @property
    def bins(self) -> Ints:
        """(m,) the bin of each cell."""
        return (self.slots & LOW).astype(np.int64)


def _summed(slots: Words, counts: Ints, errors: Ints) -> tuple[Words, Ints, Ints]:
    """Cells of ascending slots, with equal slots added up."""
    if not len(slots):
        return slots, counts, errors
    first = np.flatnonzero(np.append(True, slots[1:] != slots[:-1]))
    return slots[first], np.add.reduceat(counts, first), np.add.reduceat(errors, first)


def parts_of(ids: ArrayLike, number: int, /) -> Ints:
    """(n,) from 0 to ``number`` − 1: rows with the same ids are in the same part, whatever else is known of them.

    >>> parts_of(["a", "b", "a"], 32), parts_of([1, 2, 3], 32)
    (array([24, 17, 24]), array([27, 17, 27]))
    """
    return ((hashed(ids, salt=int(SALT)) >> np.uint64(32)) * np.uint64(number) >> np.uint64(32)).astype(np.int64)


def populations(names: list[NDArray[Any]], n: int, /) -> tuple[tuple[Stratum, ...], Ints]:
    """The populations, and the index (n,) of each row's; an empty array where there is only one."""
    code, size = np.zeros(0, np.int64), 1
    for column in names:
        if not n or (column == column[0]).all():
            continue
        number, more = numbered(column)
        code, size = (code * more + number if code.size else number), size * more
        if size > MOST:
            code, size = numbered(code)
    if not code.size:
        return ((tuple(str(column[0]) for column in names),) if n else ()), code
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    strata = [tuple(str(column[row]) for column in names) for row in first]
    order = sorted(range(len(strata)), key=lambda k: strata[k])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return tuple(strata[k] for k in order), rank[code]
