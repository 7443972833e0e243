"""The rows that a selector was calibrated on, as few hashes, by which they are known again in any order or part."""

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from abstain.outputs import Outputs
from abstain.outputs.hashes import Hashes, hashed, hashed_rows

SIZE = 1024
END = 1 << 64
HALF = np.uint64(32)
LEVEL = 1e-6  # the probability with which ties alone make fresh rows look like those of calibration
MOST, MANY = 0.75, 200  # of the different things have one count above 1: they are copies, not ties or percentiles
SALT = 0x7365656E20726F77
NAMED = 0x6E616D6520616C6F  # of ids whose rows are known by them alone

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True)
class HashSample:
    """The smallest hashes of many things, each once, in their order: a fair sample of the different ones."""

    hashes: tuple[int, ...]
    counts: tuple[int, ...]
    """How many things have each hash."""
    below: int
    """Every hash below it is known; 2⁶⁴ where all are."""

    def __post_init__(self) -> None:
        edges = (-1, *self.hashes, self.below)
        rising = all(one < other for one, other in pairwise(edges))
        fits = len(self.hashes) == len(self.counts) <= SIZE and 0 < self.below <= END
        if not (rising and fits and all(count > 0 for count in self.counts)):
            raise ValueError("hashes that do not rise, or counts that do not fit")

    @classmethod
    def of(cls, hashes: Hashes, /) -> Self:
        """The smallest of these."""
        distinct, counts = np.unique(hashes, return_counts=True)
        below = int(distinct[SIZE]) if len(distinct) > SIZE else END
        return cls(tuple(distinct[:SIZE].tolist()), tuple(counts[:SIZE].tolist()), below)

    def joined(self, other: "HashSample | None", /) -> "HashSample":
        """That of the things of both."""
        if other is None:
            return self
        counts, below = Counter(dict(zip(self.hashes, self.counts, strict=True))), min(self.below, other.below)
        counts.update(dict(zip(other.hashes, other.counts, strict=True)))
        known = sorted(value for value in counts if value < below)
        kept = known[:SIZE]
        return HashSample(tuple(kept), tuple(counts[k] for k in kept), known[SIZE] if len(known) > SIZE else below)

    def share(self, hashes: Hashes, /) -> float:
        """About which share of the things of these hashes are among its own; 0 where none can be compared."""
        comparable = self.comparable(hashes)
        return float(np.isin(comparable, self.values).mean()) if len(comparable) else 0.0

    def is_beyond_ties(self, hashes: Hashes, /) -> bool:
        r"""Whether two independent samples would, with probability at most 10⁻⁶, have so many things in common.

        Things in both are counted against those that are twice or more in one and not in the other. Of t of a thing,
        a and b of which are to be expected in the two, both have some with probability
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
        """The share of things that are not the only one of their hash."""
        return sum(count for count in self.counts if count > 1) / max(1, sum(self.counts))

    @property
    def collision(self) -> float:
        """The probability that two things have the same hash; more where not all are known."""
        n = sum(self.counts)
        return sum(count * (count - 1) for count in self.counts) / max(1, n * (n - 1))

    @property
    def values(self) -> Hashes:
        """The hashes as an array."""
        return np.array(self.hashes, np.uint64)

    def comparable(self, hashes: Hashes, /) -> Hashes:
        """Those of which it is known whether they are among its own."""
        return hashes[hashes <= np.uint64(self.below - 1)]


def _without_copies(counts: Ints) -> Ints:
    """The counts, in units of one that most things have: ties alone give at most a third the same above 1."""
    values, things = np.unique(counts, return_counts=True)
    unit = values[things >= max(MANY, MOST * len(counts))]
    return -(-counts // unit[0]) if len(unit) else counts


@final
@dataclass(frozen=True)
class SeenRows:
    """Rows that chose a score, fitted it or set its threshold."""

    ids: HashSample | None
    """None where there are none, or numbers, which other rows may have too; under a salt of their own where contents
    are not known."""
    contents: HashSample | None
    """Of logits, or of given confidences where there are no logits; None where they are not known."""
    named: HashSample | None = None
    """Of ids, in the upper half, and contents, in the lower, where both are known."""

    @classmethod
    def of(cls, outputs: Outputs, /) -> Self:
        """All of these."""
        contents, pairs = row_hashes(outputs)
        ids, named = (None if found is None else HashSample.of(found) for found in (id_hashes(outputs.ids), pairs))
        return cls(ids, HashSample.of(contents), named)

    def compared(self, outputs: Outputs, /) -> tuple[str, ...]:
        """By what these rows can be known again: by their ids, where none is common, and by their contents."""
        by_ids = self.ids is not None and id_hashes(outputs.ids) is not None and not self.namesakes(outputs)
        return (*(["ids"] if by_ids else []), *([] if self.contents is None else ["contents"]))

    def namesakes(self, outputs: Outputs, /) -> float:
        """About which share of these rows have ids of theirs, whatever their contents."""
        names = id_hashes(outputs.ids)
        return 0.0 if self.ids is None or names is None else self.ids.share(names)

    def share(self, outputs: Outputs, /) -> float:
        """About which share of these rows are among them; 0 unless it is certain that some are.

        An id is a name, which other samples of another folder may have: where contents are known, the id must come with
        its own, more often than ties explain.
        """
        named, alone = self.namesakes(outputs), id_hashes(outputs.ids, salt=NAMED)
        if self.ids is not None and alone is not None and (found := self.ids.share(alone)):
            return found
        if self.contents is None:
            return named
        contents, pairs = row_hashes(outputs)
        by_contents = self.contents.share(contents) if self.contents.is_beyond_ties(contents) else 0.0
        if self.named is None or pairs is None or not self._keep_their_names(pairs, contents):
            return by_contents
        return max(by_contents, self.named.share(pairs))

    def _keep_their_names(self, pairs: Hashes, contents: Hashes) -> bool:
        """Whether other rows would, with probability at most 10⁻⁶, so often have an id and its contents in common.

        A row has the contents of its namesakes no more often than those of any other row of its file, even where names
        tell the class. Where all namesakes agree, one a name, two rows of a file measure chance.
        """
        assert self.named is not None
        assert self.contents is not None
        fresh, known = np.unique(self.named.comparable(pairs)), self.named.values
        namesakes = fresh[np.isin(fresh >> HALF, known >> HALF)]
        same = int(np.isin(namesakes, known).sum())
        files = (self.contents, HashSample.of(contents))
        if same and bdtrc(same - 1, len(namesakes), max(file.tied for file in files)) <= LEVEL:
            return True
        agree = 0 < same == len(namesakes) and _is_one_per_id(self.named) and _is_one_per_id(HashSample.of(pairs))
        return agree and max(file.collision for file in files) ** same <= LEVEL


def _is_one_per_id(named: HashSample) -> bool:
    return len(np.unique(named.values >> HALF)) == sum(named.counts)


def id_hashes(ids: NDArray[Any] | None, /, *, salt: int = SALT) -> Hashes | None:
    """(n,) a hash of each id; None where all are numbers, since those of rows in a file name others in another."""
    if ids is None:
        return None
    names = np.asarray(ids).astype(str)
    return None if np.char.isdecimal(names).all() else hashed(names, salt=salt)


def row_hashes(outputs: Outputs, /) -> tuple[Hashes, Hashes | None]:
    """Hashes of the contents of usable rows, those of one id and the same contents once, and of both together.

    The second has a row's id in its upper half and its contents in its lower; None where ids are none or numbers.
    """
    found = _content_hashes(outputs)
    if outputs.ids is None:
        return found, None
    names = hashed(np.asarray(outputs.ids).astype(str)[outputs.usable], salt=SALT)
    both = names >> HALF << HALF | found >> HALF
    return found[np.unique(both, return_index=True)[1]], None if id_hashes(outputs.ids) is None else both


def _content_hashes(outputs: Outputs) -> Hashes:
    """A hash of the logits of each usable row, or of its given confidences, to single precision."""
    rows: Any = outputs.source("logits") if outputs.n_classes else _given(outputs)
    return hashed_rows(rows, salt=SALT)[outputs.usable]


def _given(outputs: Outputs) -> NDArray[np.float64]:
    assert outputs.given is not None
    return outputs.given[:, np.argsort(outputs.given_names)]
