"""Costs: the rule of Chow, and thresholds of low cost with a bound on what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._arrays import Floats
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain.scores.expected_cost import Costs
from abstain.thresholds.betting import mean_upper_bound
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.sample import SampledFrom, check_chance, one_per_cluster, population_of, range_words
from abstain.thresholds.threshold import Threshold, between

GUIDE = 1 / 3


@dataclass(frozen=True)
class ChowDecision:
    """Decisions by expected cost; arrays of shape (n,).

    Attributes
    ----------
    prediction : array of int
        The class of lowest expected cost.
    advantage : array
        Expected cost of rejecting less that of the prediction: accept iff above 0.
    """

    prediction: NDArray[np.int64]
    advantage: Floats

    @property
    def accepted(self) -> NDArray[np.bool_]:
        """Where predicting is cheaper than rejecting."""
        return self.advantage > 0


def chow(probabilities: ArrayLike, /, *, rejection: float | ArrayLike, costs: ArrayLike | None = None) -> ChowDecision:
    """Chow's rule: predict the class of lowest expected cost, and reject where rejecting costs less.

    It is optimal for true probabilities, so calibrate them first; nothing is guaranteed for others.

    Parameters
    ----------
    probabilities : (n, K) array
        Of the classes, rows that sum to 1.
    rejection : float or (K,) array
        The cost of rejecting, one number or one for each true class.
    costs : (K, K) array, optional
        ``costs[ŷ, y]`` is the cost of predicting ŷ where y is true; by default 0 if right and 1 if wrong.

    Returns
    -------
    ChowDecision

    Raises
    ------
    InvalidInputError
        If rows do not sum to 1, or costs are negative or of another shape.

    Examples
    --------
    >>> C = [[0, 1, 10], [1, 0, 10], [2, 2, 0]]
    >>> [bool(chow([[0.6, 0.3, 0.1]], rejection=d, costs=C).accepted[0]) for d in (0.8, 1.5)]
    [False, True]

    References
    ----------
    Chow, "On optimum recognition error and reject tradeoff", IEEE Transactions on Information Theory 1970.
    """
    p = as_doubles("probabilities", probabilities)
    if p.ndim != 2 or not (p >= 0).all() or not np.allclose(p.sum(axis=1), 1, atol=1e-6):
        raise InvalidInputError(f"`probabilities` must have shape (n, K) and rows that sum to 1, got shape {p.shape}.")
    answering, rejecting = Costs.of(p.shape[1], rejection=rejection, matrix=costs).expected(p)
    return ChowDecision(answering.argmin(axis=1), rejecting - answering.min(axis=1))


def minimal_cost(
    confidence: ArrayLike,
    costs: ArrayLike,
    /,
    *,
    rejection: float | ArrayLike,
    largest: float = 1.0,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold of lowest mean cost on a third of the sample, with a bound on its expected cost from the rest.

    The bound holds with probability 1 − δ: a threshold chosen on other rows is a fixed one for the rest
    (`mean_upper_bound`).

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    costs : (n,) array
        What accepting each row costs: 0 and 1 for errors.
    rejection : float or (n,) array
        What rejecting costs, one number or one per row.
    largest : float
        The largest cost possible, known beforehand.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of the third, and of one row from each cluster.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> minimal_cost(1 - u, errors, rejection=0.1).guarantee.certified < 0.1
    True
    """
    rows = _Rows.of(confidence, costs, rejection, largest, ids, seed)
    guide = rows.guide
    value = _lowest_cost(rows.confidence[guide], rows.accepting[guide], rows.rejecting[guide])
    return rows.certified("minimal_cost", value, delta)


def chow_threshold(
    advantage: ArrayLike,
    costs: ArrayLike,
    /,
    *,
    rejection: float | ArrayLike,
    largest: float = 1.0,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold 0, above which `chow` expects answering to cost less, with a bound on its expected cost.

    The bound holds with probability 1 − δ whether or not the probabilities behind the advantage are right. For another
    threshold that was fixed beforehand, subtract it from the confidence.

    Parameters
    ----------
    advantage : (n,) array
        By how much rejecting is expected to cost more than answering; −inf is never accepted.
    costs, rejection : array_like
        As for `minimal_cost`.
    largest, delta : float
        As for `minimal_cost`.
    ids : (n,) array, optional
        As for `minimal_cost`.
    seed : int
        As for `minimal_cost`.

    Returns
    -------
    Threshold
        With its guarantee.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = 0.3 * rng.random(2000) ** 2
    >>> chow_threshold(0.1 - chance, rng.random(2000) < chance, rejection=0.1).guarantee.certified < 0.1
    True
    """
    return _Rows.of(advantage, costs, rejection, largest, ids, seed).certified("chow", 0.0, delta)


@dataclass(frozen=True)
class _Rows:
    """Independent rows with what accepting and what rejecting each would cost."""

    confidence: Floats
    accepting: Floats
    rejecting: Floats
    guide: NDArray[np.bool_]
    """(n,) a random third to choose on; the order in which rows came decides nothing."""
    largest: float
    population: SampledFrom

    @classmethod
    def of(
        cls,
        confidence: ArrayLike,
        costs: ArrayLike,
        rejection: float | ArrayLike,
        largest: float,
        ids: ArrayLike | None,
        seed: int,
    ) -> Self:
        c, a = as_doubles("confidence", confidence), as_doubles("costs", costs)
        r = as_doubles("rejection", rejection)
        if c.ndim != 1 or a.shape != c.shape or r.shape not in ((), c.shape):
            raise InvalidInputError(
                f"`confidence` and `costs` must be of one length, and `rejection` one number or as many, got shapes "
                f"{c.shape}, {a.shape} and {r.shape}."
            )
        if np.isnan(c).any():
            raise InvalidInputError(
                "`confidence` must not be NaN, got some. Set it to -inf where a sample is rejected."
            )
        if not all(((x >= 0) & (x <= largest)).all() for x in (a, r)):
            raise InvalidInputError(
                f"`costs` and `rejection` must be between 0 and `largest` ({largest:g}), got "
                f"{range_words(a)} and {range_words(r)}."
            )
        rows = one_per_cluster(c, a, ids=ids, seed=seed)
        if len(rows) < 3:
            raise InvalidInputError(f"`confidence` must be of at least 3 different samples, got {len(rows)}.")
        r = np.broadcast_to(r, c.shape)
        a = np.where(c == -inf, r, a)  # never accepted
        rows = rows[np.lexsort((r[rows], a[rows], c[rows]))]
        parts = c[rows], a[rows], r[rows]
        guide = generator("guide of costs", seed, *map(coarse, parts)).permutation(len(rows)) < GUIDE * len(rows)
        return cls(*parts, guide, float(largest), population_of(len(rows), ids))

    def certified(self, method: str, value: float, delta: float) -> Threshold:
        """A threshold that the rows other than the guide did not choose, with a bound on its cost from them."""
        check_chance("delta", delta)
        paid, rest = np.where(self.confidence > value, self.accepting, self.rejecting), ~self.guide
        guarantee = Guarantee(
            quantity=Quantity.COST,
            target=None,
            bound=mean_upper_bound(paid[rest], paid[self.guide], delta=delta, largest=self.largest),
            probability=1 - delta,
            **self.population,
            caveats=(
                f"a cost of {paid[rest].mean():.4g} per row was observed on {np.count_nonzero(rest)} of them, and "
                f"rejecting all would have cost {self.rejecting[rest].mean():.4g} per row",
            ),
        )
        return Threshold.counted(value, method, self.confidence[rest], self.accepting[rest], guarantee)


def _lowest_cost(confidence: Floats, accepting: Floats, rejecting: Floats) -> float:
    """The threshold of lowest mean cost on these rows; +inf, reject all, if none is lower."""
    order = np.argsort(-confidence, kind="stable")
    c, total = confidence[order], rejecting.sum() + np.cumsum((accepting - rejecting)[order])
    ends = np.flatnonzero(np.append(c[1:] != c[:-1], True))  # a tie is accepted whole
    best = ends[total[ends].argmin()]
    if total[best] >= rejecting.sum():
        return inf
    return between(float(c[best]), float(c[best + 1]) if best + 1 < len(c) else -inf)
