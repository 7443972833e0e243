"""The calibration sample of a threshold: checked, most trusted first, ready to count."""

from dataclasses import dataclass
from typing import Protocol, Self, TypedDict, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles, as_rectangle, check_fraction, check_one_kind
from abstain._arrays import Floats, Ints
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain.metrics.checks import check_samples
from abstain.metrics.groups import are_errors
from abstain.thresholds.guarantee import Counting, Guarantee
from abstain.thresholds.threshold import Threshold, apart, between

MOST_CHANCE = 0.5  # a guarantee that fails more often is none, and rather 1 − δ was meant


class SampledFrom(TypedDict):
    """What one more row is a draw from, as fields of a `Guarantee`."""

    distribution: str
    counting: Counting
    largest: int | None


class RankedSample(Protocol):
    """Calibration rows, or counts of them, the most trusted of which a threshold accepts."""

    @property
    def are_errors(self) -> bool:
        """Whether every loss is 0 or 1, so that the exact binomial test applies."""

    @property
    def population(self) -> SampledFrom:
        """What one more such row is a draw from."""

    @property
    def ends(self) -> Ints:
        """The numbers of rows that a threshold can accept, ascending."""

    @property
    def totals_at_ends(self) -> NDArray[np.number]:
        """The total loss of so many rows."""

    def __len__(self) -> int: ...

    def below(self, rank: int, /) -> float:
        """The threshold that accepts exactly the ``rank`` most trusted rows."""


def accepting(method: str, sample: RankedSample, rank: int, guarantee: Guarantee, /) -> Threshold:
    """The threshold that accepts the ``rank`` most trusted rows, one of the ``ends``, halfway to the next row."""
    return Threshold(
        value=sample.below(rank),
        method=method,
        n=len(sample),
        accepted=rank,
        errors=float(sample.totals_at_ends[np.searchsorted(sample.ends, rank)]),
        guarantee=guarantee,
    )


@final
@dataclass(frozen=True)
class Sample:
    """Confidence and losses of independent rows, most trusted first, in a random order within ties.

    That order is drawn from a generator which the rows alone seed, after they were put into an order of their own: it
    is the same for the same rows, however they came.
    """

    confidence: Floats
    losses: Floats
    are_errors: bool
    """Whether every loss is 0 or 1, so that the exact binomial test applies."""
    population: SampledFrom
    """What one more such row is a draw from."""

    @classmethod
    def of(cls, confidence: ArrayLike, losses: ArrayLike, /, *, ids: ArrayLike | None = None, seed: int = 0) -> Self:
        """Check the sample; of each cluster of ``ids`` one row is drawn, since its copies are no further evidence.

        With ``ids`` of which none repeats, it is a sample of clusters of one row: larger ones may exist.
        """
        c, e = as_samples(confidence, losses)
        rows = one_per_cluster(c, e, ids=ids, seed=seed)
        population = population_of(len(rows), ids)
        c, e = c[rows], e[rows]
        order = np.lexsort((-e, -c))
        c, e = c[order], e[order]
        if (c[1:] == c[:-1]).any():
            e = e[np.lexsort((generator("order within ties", 0, coarse(c), e).random(len(c)), -c))]
        return cls(c, e, are_errors(e), population)

    def __len__(self) -> int:
        return len(self.confidence)

    @property
    def totals(self) -> Floats:
        """(n,) the total loss of the k most trusted rows, k from 1."""
        return np.cumsum(self.losses)

    @property
    def ends(self) -> Ints:
        """The numbers of rows that a threshold can accept, ascending: neither ties nor near ties are split."""
        return np.flatnonzero(apart(self.confidence)) + 1

    @property
    def totals_at_ends(self) -> Floats:
        """The total loss of so many rows."""
        return self.totals[self.ends - 1]

    def below(self, rank: int, /) -> float:
        """The threshold that accepts exactly the ``rank`` most trusted rows, halfway to the next one."""
        following = self.confidence[rank] if rank < len(self) else -np.inf
        return between(float(self.confidence[rank - 1]), float(following))


def as_samples(confidence: ArrayLike, losses: ArrayLike, /) -> tuple[Floats, Floats]:
    """Confidences and losses of the same rows, checked, in float64."""
    check_samples(confidence, losses)
    return as_doubles("confidence", confidence), as_doubles("losses", losses)


def population_of(n: int, ids: ArrayLike | None, /) -> SampledFrom:
    """What n rows are draws from, with ``ids`` one row of each cluster; rows alone where no two have the same id."""
    if ids is None:
        return independent_rows(n)
    return rows_of_clusters(n, 1) if n == len(np.asarray(ids)) else one_row_of_each(n)


def independent_rows(n: int, /) -> SampledFrom:
    """What n independent rows are draws from."""
    words = f"rows drawn independently from the distribution of these {n}"
    return {"distribution": words, "counting": "rows", "largest": None}


def rows_of_clusters(clusters: int, largest: int, /) -> SampledFrom:
    """What all rows of independent clusters are draws from."""
    words = f"rows of clusters drawn independently as these {clusters} were, of at most {largest} rows each"
    if largest == 1:
        words = f"rows of which no two share an id, drawn independently as these {clusters} were"
    return {"distribution": words, "counting": "rows", "largest": largest}


def one_row_of_each(clusters: int, /) -> SampledFrom:
    """What one row of each cluster is a draw from."""
    words = f"one row drawn at random from each of clusters like these {clusters}: every cluster counts once, whatever"
    return {"distribution": f"{words} its size", "counting": "clusters", "largest": None}


def cluster_numbers(ids: ArrayLike, n: int, /) -> Ints:
    """(n,) the number of each row's cluster."""
    names = check_names("ids", ids)
    if names.shape != (n,):
        raise InvalidInputError(f"`ids` must have shape {(n,)}, one per row, got {names.shape}.")
    return np.unique(names, return_inverse=True)[1]


def check_names(what: str, names: ArrayLike, /) -> NDArray[np.generic]:
    """Names or numbers, none of them missing."""
    check_one_kind(what, names)
    array = as_rectangle(what, names)
    if array.dtype.kind == "O":
        if any(name is None or name != name for name in array.flat):
            raise InvalidInputError(f"`{what}` must name every row, got None or NaN for some.")
        array = array.astype(str)
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidInputError(f"`{what}` must name every row, got NaN for {np.count_nonzero(np.isnan(array))}.")
    return array


def one_per_cluster(confidence: Floats, losses: Floats, /, *, ids: ArrayLike | None, seed: int) -> Ints:
    """The numbers of one row, drawn at random, of each cluster; of all rows without ids.

    The rows are put into an order of their own first, so that neither the order they came in nor the names of the
    clusters decide; and the draw knows the data (`abstain._draws`).
    """
    n = len(confidence)
    if ids is None:
        return np.arange(n)
    cluster = cluster_numbers(ids, n)
    if cluster.max() + 1 == n:
        return np.arange(n)
    order = np.lexsort((cluster, losses, confidence))
    rng = generator("one row of each cluster", seed, coarse(confidence[order]), losses[order])
    order = order[rng.permutation(n)]
    return np.sort(order[np.unique(cluster[order], return_index=True)[1]])


def ordered_rows(
    confidence: Floats, losses: Floats, other: NDArray[np.generic], /, *, ids: ArrayLike | None, seed: int
) -> Ints:
    """One row of each cluster, by confidence, loss and another column, so that the order given decides nothing."""
    rows = one_per_cluster(confidence, losses, ids=ids, seed=seed)
    return rows[np.lexsort((other[rows], losses[rows], confidence[rows]))]


def range_words(values: ArrayLike, /) -> str:
    """The smallest and the largest of some numbers, for a message.

    >>> range_words([0.5, -1])
    'numbers from -1 to 0.5'
    """
    array = np.asarray(values, dtype=np.float64)
    return f"numbers from {array.min():g} to {array.max():g}" if array.size else "no numbers"


check_target = check_fraction
"""A target is a number strictly between 0 and 1."""


def check_largest(name: str, value: object, /) -> None:
    """A number of rows that a cluster may have."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInputError(f"`{name}` must be an integer of at least 1, got {value!r}.")


def check_chance(name: str, value: float, /) -> None:
    """A probability of being wrong: above 0, and not what somebody writes who means that of being right."""
    check_target(name, value)
    if value > MOST_CHANCE:
        raise InvalidInputError(
            f"`{name}` must be at most {MOST_CHANCE:g}, since it is the probability of being wrong, got {value:g}. "
            f"Did you mean {1 - value:.4g}?"
        )
