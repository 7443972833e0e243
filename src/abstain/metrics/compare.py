"""Paired comparison of two scores on the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

from numpy.typing import ArrayLike

from abstain._arguments import check_fraction
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._kernels.blocks import in_threads
from abstain._kernels.sums import distance_powers
from abstain.metrics.clusters import error_of_sums
from abstain.metrics.estimates import Estimate, estimates
from abstain.metrics.influence import Influence
from abstain.metrics.ranking import SampleRows, rank
from abstain.metrics.spread import FEW_APART, Spread


@dataclass(frozen=True)
class ScoreDifference:
    """AURC-α of score a minus that of score b: below zero means a is better.

    Attributes
    ----------
    difference : float
        AURC-α of a less that of b.
    se : float
        Its standard error.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    """

    difference: float
    se: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def compare(
    conf_a: ArrayLike,
    conf_b: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> ScoreDifference:
    """Paired difference of two AURC-α on the same samples, with its standard error and interval.

    Pairing makes the interval much shorter than two separate ones, since both scores meet the same errors.
    Samples with the same ``ids`` are one cluster. The interval has the form of `aurc_interval`. In each direction it
    allows for errors not seen that one score ranks last and the other anywhere among three quarters of the samples.
    A sample that shows none of them may rank identically by both scores, so that no interval is shorter than about
    ±3.9/(αn) at 95%.

    Parameters
    ----------
    conf_a : (n,) array
        Confidence by score a.
    conf_b : (n,) array
        Confidence by score b.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    alpha : float
        The largest coverage that counts, above 0 and at most 1.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of the interval.

    Returns
    -------
    ScoreDifference
        AURC-α of a minus that of b: below zero means that a is better.

    Examples
    --------
    >>> errors = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    >>> a, b = [9.5, 9, 8.5, 8, 7, 6, 5, 4, 3, 2], [9, 9.5, 2, 8, 6, 7, 5, 3, 4, 8.5]
    >>> round(compare(a, b, errors).difference, 10)
    -0.02
    """
    first = rank(conf_a, losses, ids=ids)
    a, b = (estimates(each, alphas=[alpha], level=level)[0] for each in (first, first.rows.rank(conf_b)))
    return paired(a, b, level=level)


def compare_all(
    confidences: Mapping[str, ArrayLike],
    losses: ArrayLike,
    /,
    *,
    alpha: float = 1.0,
    ids: ArrayLike | None = None,
    level: float = 0.95,
) -> dict[tuple[str, str], ScoreDifference]:
    """`compare` for every pair of several scores on the same samples: each is ranked once, on every core.

    Parameters
    ----------
    confidences : mapping of str to (n,) array
        Confidence by name of a score.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    alpha : float
        The largest coverage that counts, above 0 and at most 1.
    ids : (n,) array, optional
        Samples with the same id are one cluster, counted once in standard errors.
    level : float
        Of the interval.

    Returns
    -------
    dict of ScoreDifference
        By pair of names.

    Examples
    --------
    >>> pairs = compare_all({"a": [3, 2, 1], "b": [1, 2, 3], "c": [3, 2, 1]}, [0, 0, 1])
    >>> [(pair, round(comparison.difference, 3)) for pair, comparison in pairs.items()]
    [(('a', 'b'), -0.5), (('a', 'c'), 0.0), (('b', 'c'), 0.5)]
    """
    if not isinstance(confidences, Mapping):
        raise InvalidTypeError(
            f"`confidences` must be a dictionary of confidences by name, got {type(confidences).__name__}."
        )
    rows = SampleRows.of(losses, ids=ids)

    def ranked(confidence: ArrayLike) -> tuple[Estimate, Influence]:
        estimate = estimates(rows.rank(confidence), alphas=[alpha], level=level)[0]
        return estimate, estimate.find_influence()

    each = dict(zip(confidences, in_threads(ranked, list(confidences.values()), len(rows)), strict=True))
    pairs = list(combinations(each, 2))
    comparisons = in_threads(lambda pair: _compared(*each[pair[0]], *each[pair[1]], level), pairs, len(rows))
    return dict(zip(pairs, comparisons, strict=True))


def compare_with(best: Estimate, others: Sequence[Estimate], /, *, level: float = 0.95) -> list[ScoreDifference]:
    """Each of the others compared with one estimate on the same rows; their influences are not stored."""
    check_fraction("level", level)
    rows, of_best = _same_rows(best, *others), best.influence

    def against(other: Estimate) -> ScoreDifference:
        return _compared(other, other.find_influence(), best, of_best, level)

    return in_threads(against, others, len(rows))


def paired(a: Estimate, b: Estimate, /, *, level: float = 0.95) -> ScoreDifference:
    """Compare two estimates made on the same rows.

    Parameters
    ----------
    a, b : Estimate
        Of two rankings of one `SampleRows`.
    level : float
        Of the interval.

    Returns
    -------
    ScoreDifference
        Of a less b.
    """
    check_fraction("level", level)
    _same_rows(a, b)
    return _compared(a, a.influence, b, b.influence, level)


def _same_rows(*each: Estimate) -> SampleRows:
    rows = [None if estimate.ranking is None else estimate.ranking.rows for estimate in each]
    if rows[0] is None or any(each_rows is not rows[0] for each_rows in rows):
        raise InvalidInputError(
            "A paired comparison must have two rankings of the same rows. Rank both by one `SampleRows`."
        )
    return rows[0]


def _compared(a: Estimate, of_a: Influence, b: Estimate, of_b: Influence, level: float) -> ScoreDifference:
    difference, most = a.value - b.value, (sum(b.spread.unseen), sum(a.spread.unseen))
    se, spread = difference_spread(of_a, of_b, most, min(a.spread.size, b.spread.size))
    if not spread.hides_nothing(level=level):
        spread = replace(spread, unseen=(of_b.unseen, of_a.unseen))
    return ScoreDifference(difference, se, *spread.interval(difference, level=level))


def difference_spread(
    of_a: Influence, of_b: Influence, unseen: tuple[float, float], size: float, /
) -> tuple[float, Spread]:
    """The standard error of the difference of two areas of the same rows, and its spread."""
    n = len(of_a.rows)
    squares, *cubes = distance_powers(of_a.sums, of_b.sums)
    se = error_of_sums(squares, len(of_a.sums), n)
    return se, Spread(se**2, (cubes[0] / n**3, cubes[1] / n**3), unseen, size, few=FEW_APART)


def mover(
    positive: tuple[float, float, float], negative: tuple[float, float, float], /, *, correlation: float = 0.0
) -> tuple[float, float]:
    """Interval of a difference of two estimates from their own (value, low, high) (Zou & Donner, 2008; Zou, 2007)."""
    difference = positive[0] - negative[0]

    def joined(first: float, second: float) -> float:
        return sqrt(max(0.0, first**2 + second**2 - 2 * correlation * first * second))

    low = difference - joined(positive[0] - positive[1], negative[2] - negative[0])
    high = difference + joined(positive[2] - positive[0], negative[0] - negative[1])
    return low, high
