"""`HashSample`: a sample of hashes of bounded size, by which rows are recognised."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, final

import numpy as np
from scipy.special import bdtrc

from abstain._arrays import Ints
from abstain._errors import InvalidInputError
from abstain.outputs.hashes import Hashes

SIZE = 1024
END = 1 << 64
LEVEL = 1e-6  # the probability with which ties alone make fresh things look like known ones
MOST, MANY = 0.75, 200  # of the different things have one count above 1: they are copies, not ties or percentiles


@final
@dataclass(frozen=True)
class HashSample:
    """The smallest hashes of some rows, each once, ascending: a random sample of the different rows."""

    hashes: tuple[int, ...]
    counts: tuple[int, ...]
    """How many rows have each hash."""
    below: int
    """Every hash below it is known; 2⁶⁴ where all are."""

    def __post_init__(self) -> None:
        edges = (-1, *self.hashes, self.below)
        rising = all(low < high for low, high in pairwise(edges))
        fits = len(self.hashes) == len(self.counts) <= SIZE and 0 < self.below <= END
        if not (rising and fits and all(count > 0 for count in self.counts)):
            raise InvalidInputError("hashes that do not rise, or counts that do not fit")

    @classmethod
    def of(cls, hashes: Hashes, /) -> Self:
        """The smallest of these hashes."""
        distinct, counts = np.unique(hashes, return_counts=True)
        below = int(distinct[SIZE]) if len(distinct) > SIZE else END
        return cls(tuple(distinct[:SIZE].tolist()), tuple(counts[:SIZE].tolist()), below)

    def joined(self, other: "HashSample | None", /) -> "HashSample":
        """The sample of the rows of both."""
        if other is None:
            return self
        counts, below = Counter(dict(zip(self.hashes, self.counts, strict=True))), min(self.below, other.below)
        counts.update(dict(zip(other.hashes, other.counts, strict=True)))
        known = sorted(value for value in counts if value < below)
        kept = known[:SIZE]
        return HashSample(tuple(kept), tuple(counts[k] for k in kept), known[SIZE] if len(known) > SIZE else below)

    def share(self, hashes: Hashes, /) -> float:
        """About the share of these hashes that are known; 0 where none can be compared."""
        comparable = self.comparable(hashes)
        return float(np.isin(comparable, self.values).mean()) if len(comparable) else 0.0

    def is_beyond_ties(self, hashes: Hashes, /) -> bool:
        r"""Whether two independent samples have so many values in common with probability at most 10⁻⁶.

        Values in both are counted against those that are twice or more in one and not in the other. Of t rows of one
        value, a and b of which are to be expected in the two, both samples have some with probability
        :math:`1 - (a^t + b^t) / (a + b)^t`, at most :math:`1 - 2^{1 - t}` whatever the two distributions are: the
        count is at most binomial with the mean of these (Hoeffding, 1956). So values that are often tied prove nothing.
        """
        distinct, counts = np.unique(self.comparable(hashes), return_counts=True)
        both, ours, theirs = np.intersect1d(self.values, distinct, assume_unique=True, return_indices=True)
        own, other = _without_copies(np.array(self.counts, np.int64)), _without_copies(counts)
        totals = np.concatenate([own[ours] + other[theirs], np.delete(own, ours), np.delete(other, theirs)])
        totals = totals[totals > 1]
        chance = 1 - float(np.mean(0.5 ** (totals - 1))) if len(totals) else 1.0
        return len(both) > len(totals) * chance + 1 and float(bdtrc(len(both) - 1, len(totals), chance)) <= LEVEL

    @property
    def tied(self) -> float:
        """The share of rows whose hash other rows have too."""
        return sum(count for count in self.counts if count > 1) / max(1, sum(self.counts))

    @property
    def collision(self) -> float:
        """The probability that two rows have the same hash; more where not all are known."""
        n = sum(self.counts)
        return sum(count * (count - 1) for count in self.counts) / max(1, n * (n - 1))

    @property
    def values(self) -> Hashes:
        """The hashes as an array."""
        return np.array(self.hashes, np.uint64)

    def comparable(self, hashes: Hashes, /) -> Hashes:
        """The hashes below ``below``: only of these it is known whether the rows have them."""
        return hashes[hashes <= np.uint64(self.below - 1)]


def _without_copies(counts: Ints) -> Ints:
    """Counts divided by the count that most rows have, where they are copies; ties alone give few the same count."""
    values, things = np.unique(counts, return_counts=True)
    unit = values[things >= max(MANY, MOST * len(counts))]
    return -(-counts // unit[0]) if len(unit) else counts
