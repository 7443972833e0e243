"""Rows and errors by population, part and bin: whole numbers that add up alike in any order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.histogram import add_counts, counted_rows, empty_tables
from abstain.sketch.bins import ALL, Bins

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
DENSE = 22  # bits of a table of all bins, 64 MB for each core at most
LOW = np.uint64(0xFFFFFFFF)


@final
@dataclass(frozen=True, eq=False)
class Cells:
    """The cells with rows, (m,) each, ascending; the same for the same rows, however they came."""

    place: Words
    """A code in the upper half of the bits, the bin in the lower."""
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
        place, counts, errors = counted_rows(confidence, wrong, code, drop)
        last = place & ((1 << (ALL - drop)) - 1)
        number = last if bins.bits is not None else bins.of_keys(last.astype(np.uint32))
        return cls(*_summed((place >> (ALL - drop) << 32 | number).astype(np.uint64), counts, errors))

    @classmethod
    def of_table(cls, table: Ints, /) -> Self:
        """The cells of a table of right and wrong rows, beside each other for each bin."""
        pairs = table.reshape(-1, 2)
        used = np.unique(np.flatnonzero(table) >> 1)  # few of many
        return cls(used.astype(np.uint64), pairs[used].sum(axis=1), pairs[used, 1])

    @classmethod
    def merge(cls, parts: Sequence["Cells"], /) -> Self:
        """All parts together."""
        place = np.concatenate([part.place for part in parts] or [np.empty(0, np.uint64)])
        order = np.argsort(place, kind="stable")
        counts, errors = (
            np.concatenate([getattr(part, name) for part in parts] or [np.empty(0, np.int64)])[order]
            for name in ("counts", "errors")
        )
        return cls(*_summed(place[order], counts, errors))

    def with_codes(self, codes: Ints, /) -> Self:
        """The cells with ``codes[c]`` for each code c, those of the same code together."""
        place = codes.astype(np.uint64)[self.codes] << np.uint64(32) | (self.place & LOW)
        return type(self).merge([type(self)(place, self.counts, self.errors)])

    def moved(self, strata: Ints, parts: int, /) -> Self:
        """The cells under new numbers of their populations, of so many parts each, in the same order."""
        stratum, part = np.divmod(self.codes, parts)
        codes = (strata[stratum] * parts + part).astype(np.uint64)
        return type(self)(codes << np.uint64(32) | (self.place & LOW), self.counts, self.errors)

    @property
    def codes(self) -> Ints:
        """(m,) the code of each cell."""
        return (self.place >> np.uint64(32)).astype(np.int64)

    @property
    def bins(self) -> Ints:
        """(m,) the bin of each cell."""
        return (self.place & LOW).astype(np.int64)


def _summed(place: Words, counts: Ints, errors: Ints) -> tuple[Words, Ints, Ints]:
    """Cells of ascending places, those of the same place together."""
    if not len(place):
        return place, counts, errors
    first = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
    return place[first], np.add.reduceat(counts, first), np.add.reduceat(errors, first)
