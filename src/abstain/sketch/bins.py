"""Bins of confidence."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.counts import FIRST, LAST, counted_rows

Keys = NDArray[np.uint32]
BITS = 20
FEWEST, ALL = 9, 32  # bits: with fewer −∞ and the least number would share a bin


@final
@dataclass(frozen=True, eq=False)
class Bins:
    """Ranges of the 32-bit key of a confidence: by its leading bits, or between given edges.

    Bin 0 holds the rows that no threshold accepts, NaN and −∞, and what is below the first edge; the bins rise with
    confidence.

    Parameters
    ----------
    bits : int or None
        Leading bits of the key, 9 to 32; 32 keeps all of a float32. None if there are edges.
    edges : array of uint32, shape (b,), optional
        The lowest keys of the bins from 1 on, ascending.
    """

    bits: int | None
    """Leading bits of the key that are kept, 32 for all; None where there are edges."""
    edges: Keys | None = None
    """(b,) the lowest keys of the bins from 1 on, ascending."""

    def __post_init__(self) -> None:
        if (self.bits is None) == (self.edges is None):
            raise InvalidInputError("`bins` must have bits or edges, got both or neither.")
        if self.bits is not None and not (type(self.bits) is int and FEWEST <= self.bits <= ALL):
            raise InvalidInputError(f"`bits` must be an integer from {FEWEST} to {ALL}, got {self.bits!r}.")
        if self.edges is not None:
            e = self.edges
            ours = isinstance(e, np.ndarray) and e.dtype == np.uint32 and e.ndim == 1 and len(e) > 0
            if not ours or e[0] < FIRST or e[-1] > LAST or (e[1:] <= e[:-1]).any():
                raise InvalidInputError(f"`edges` must be ascending uint32 keys from {FIRST} to {LAST}, got {e!r:.80}.")

    @classmethod
    def equal_mass(cls, pilot: ArrayLike, /, *, number: int = 4096) -> Self:
        """About ``number`` bins with equally many rows of a pilot sample each.

        Use other rows than those to be counted. Bounds are about half as wide as with equally many bins by bits. Use
        log-odds rather than probabilities, which float32 resolves poorly near 1.

        >>> Bins.equal_mass([0.1, 0.2, 0.3, 0.4], number=2).lowest(np.array([1, 2]))
        array([-3.40282347e+38,  3.00000012e-01])
        """
        c = as_doubles("pilot", pilot)
        if c.ndim != 1 or not len(c) or number < 1:
            raise InvalidInputError(
                f"`pilot` must have shape (n,) and `number` be positive, got {c.shape} and {number}."
            )
        keys, counts, _ = counted_rows(c, np.zeros(len(c), bool), np.empty(0, np.int64), 0)
        keys, ends = keys[keys >= FIRST], np.cumsum(counts[keys >= FIRST])
        goals = np.linspace(0, ends[-1], number + 1)[1:-1] if len(ends) else np.empty(0)
        at = keys[np.searchsorted(ends, goals, side="right")] if len(keys) else keys
        return cls(None, np.unique(np.append(at, FIRST)).astype(np.uint32))

    @property
    def keeps_all(self) -> bool:
        """Whether confidences that differ as float32 are in different bins."""
        return self.bits == ALL

    def of_keys(self, keys: Keys, /) -> Keys:
        """(n,) the bin of each key."""
        if self.bits is not None:
            return keys >> np.uint32(ALL - self.bits)
        assert self.edges is not None
        return np.searchsorted(self.edges, keys, side="right").astype(np.uint32)

    def lowest(self, bins: NDArray[np.integer], /) -> Floats:
        """(m,) the least confidence in each bin, −∞ in bin 0."""
        return np.where(bins == 0, -np.inf, _values(np.maximum(self.first_keys(bins), FIRST)))

    def highest(self, bins: NDArray[np.integer], /) -> Floats:
        """(m,) the largest confidence in each bin, −∞ in bin 0."""
        return np.where(
            bins == 0, -np.inf, _values(np.clip(self.first_keys(bins.astype(np.int64) + 1) - 1, FIRST, LAST))
        )

    def first_keys(self, bins: NDArray[np.integer], /) -> NDArray[np.int64]:
        """The lowest key of each bin."""
        whole = bins.astype(np.int64)
        if self.bits is not None:
            return np.asarray(whole << (ALL - self.bits))
        assert self.edges is not None
        return np.append(0, np.append(self.edges.astype(np.int64), LAST + 1))[np.minimum(whole, len(self.edges) + 1)]

    def differs(self, other: "Bins", /) -> str | None:
        """A description of the difference, or None."""
        if self.bits != other.bits:
            return f"{self.words()} and {other.words()}"
        if self.edges is not None and not np.array_equal(self.edges, np.asarray(other.edges)):
            return f"{self.words()} and {other.words()} that are not the same"
        return None

    def words(self) -> str:
        """A short description."""
        return f"{self.bits} bits" if self.edges is None else f"{len(self.edges)} edges"


def bins_words(several: Iterable[Bins], /) -> str:
    """What the bins of several scores are, such as ``222 to 231 edges``."""
    all_bins = list(several)
    sizes = {"bits": {bins.bits for bins in all_bins if bins.bits is not None}}
    sizes["edges"] = {len(bins.edges) for bins in all_bins if bins.edges is not None}
    kinds = {kind: (min(some), max(some)) for kind, some in sizes.items() if some}
    return " or ".join(
        f"{least} {kind}" if least == most else f"{least} to {most} {kind}" for kind, (least, most) in kinds.items()
    )


def _values(keys: NDArray[np.int64]) -> Floats:
    """The floats of keys."""
    k = keys.astype(np.uint32)
    bits = np.where(k >= np.uint32(0x80000000), k ^ np.uint32(0x80000000), ~k)
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)
