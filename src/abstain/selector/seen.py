"""The rows that a selector was calibrated on, as few hashes, by which they are known again in any order or part."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from abstain.kernels.blocks import row_blocks
from abstain.outputs import Outputs
from abstain.sketch.identity import hashed

SIZE = 1024
END = 1 << 64
MANY = 3  # more are not counted
LEVEL = 1e-6  # the probability with which ties alone make fresh rows look like those of calibration
SALT = 0x7365656E20726F77
NAMED = 0x6E616D6520616C6F  # of ids whose rows are known by them alone

Hashes = NDArray[np.uint64]


@final
@dataclass(frozen=True)
class HashSample:
    """The smallest hashes of many things, each once, in their order: a fair sample of the different ones."""

    hashes: tuple[int, ...]
    counts: tuple[int, ...]
    """How many things have each hash, 3 where there are more."""
    below: int
    """Every hash below it is known; 2⁶⁴ where all are."""

    def __post_init__(self) -> None:
        edges = (-1, *self.hashes, self.below)
        rising = all(one < other for one, other in pairwise(edges))
        fits = len(self.hashes) == len(self.counts) <= SIZE and 0 < self.below <= END
        if not (rising and fits and all(0 < count <= MANY for count in self.counts)):
            raise ValueError("hashes that do not rise, or counts that do not fit")

    @classmethod
    def of(cls, hashes: Hashes, /) -> Self:
        """The smallest of these."""
        distinct, counts = np.unique(hashes, return_counts=True)
        below = int(distinct[SIZE]) if len(distinct) > SIZE else END
        return cls(tuple(distinct[:SIZE].tolist()), tuple(np.minimum(counts[:SIZE], MANY).tolist()), below)

    def joined(self, other: "HashSample | None", /) -> "HashSample":
        """That of the things of both."""
        if other is None:
            return self
        both = [np.repeat(np.array(one.hashes, np.uint64), one.counts) for one in (self, other)]
        found, below = HashSample.of(np.concatenate(both)), min(self.below, other.below)
        kept = sum(value < below for value in found.hashes)
        return HashSample(found.hashes[:kept], found.counts[:kept], min(below, found.below))

    def share(self, hashes: Hashes, /) -> float:
        """About which share of the things of these hashes are among its own; 0 where none can be compared."""
        comparable = hashes[self._is_known(hashes)]
        return float(np.isin(comparable, np.array(self.hashes, np.uint64)).mean()) if len(comparable) else 0.0

    def is_beyond_ties(self, hashes: Hashes, /) -> bool:
        r"""Whether two independent samples would, with probability at most 10⁻⁶, have so many things in common.

        Things that are once in each are counted against those that are twice in one and not in the other. With a and b
        of a thing to be expected in the two, the first has probability :math:`ab e^{-a-b}` and the second
        :math:`(a^2 + b^2) e^{-a-b} / 2`, which is no less whatever the two distributions are: the count is at most
        binomial with probability 1/2. So values that are often tied prove nothing.
        """
        distinct, counts = np.unique(hashes[self._is_known(hashes)], return_counts=True)
        own, own_counts = np.array(self.hashes, np.uint64), np.array(self.counts, np.int64)
        here, there = np.isin(distinct, own[own_counts == 1]), np.isin(distinct, own)
        shared = np.count_nonzero(here & (counts == 1))
        apart = np.count_nonzero(~there & (counts == 2)) + np.count_nonzero(~np.isin(own[own_counts == 2], distinct))
        return bool(shared > 0 and bdtrc(shared - 1, shared + apart, 0.5) <= LEVEL)

    def _is_known(self, hashes: Hashes) -> NDArray[np.bool_]:
        return hashes <= np.uint64(self.below - 1)


@final
@dataclass(frozen=True)
class SeenRows:
    """Rows that chose a score, fitted it or set its threshold."""

    ids: HashSample | None
    """None where there are none, or numbers, which other rows may have too; under a salt of their own where contents
    are not known."""
    contents: HashSample | None
    """Of logits, or of given confidences where there are no logits; None where they are not known."""

    @classmethod
    def of(cls, outputs: Outputs, /) -> Self:
        """All of these."""
        names = id_hashes(outputs.ids)
        return cls(None if names is None else HashSample.of(names), HashSample.of(content_hashes(outputs)))

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

        An id is a name, which other samples of another folder may have: where contents are known they must be common.
        """
        named, alone = self.namesakes(outputs), id_hashes(outputs.ids, salt=NAMED)
        if self.ids is not None and alone is not None and (found := self.ids.share(alone)):
            return found
        if self.contents is None:
            return named
        contents = content_hashes(outputs)
        same = self.contents.share(contents)
        return min(named, same) or (same if self.contents.is_beyond_ties(contents) else 0.0)


def id_hashes(ids: NDArray[Any] | None, /, *, salt: int = SALT) -> Hashes | None:
    """(n,) a hash of each id; None where all are numbers, since those of rows in a file name others in another."""
    if ids is None:
        return None
    names = np.asarray(ids).astype(str)
    return None if np.char.isdecimal(names).all() else hashed(names, salt=salt)


def content_hashes(outputs: Outputs, /) -> Hashes:
    """(n,) a hash of the logits of each usable row, or of its given confidences, to single precision."""
    rows: Any = outputs.source("logits") if outputs.n_classes else _given(outputs)
    n, width = rows.shape
    factors = hashed(np.arange(width), salt=SALT) | np.uint64(1)
    found = np.empty(n, np.uint64)
    for block in row_blocks(n, width):
        with np.errstate(over="ignore"):
            single = np.asarray(rows[block]).astype(np.float32) + np.float32(0)  # −0 is 0
        found[block] = single.view(np.uint32).astype(np.uint64) @ factors
    return hashed(found[outputs.usable].view(np.int64), salt=SALT)


def _given(outputs: Outputs) -> NDArray[np.float64]:
    assert outputs.given is not None
    return outputs.given[:, np.argsort(outputs.given_names)]
