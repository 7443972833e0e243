"""Thresholds by the true class: few of its rows are accepted with another answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, log
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._text import counted
from abstain.thresholds.coverage import rank_for_coverage
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.sample import Sample, SampledFrom, check_chance, check_target, one_per_cluster, population_of
from abstain.thresholds.step_down import SafeRanks
from abstain.thresholds.threshold import CLOSE, Threshold, between

RISK_SHARE = 0.5  # of δ, where there is a risk too


def target_miss_rate(
    confidence: ArrayLike,
    predictions: ArrayLike,
    labels: ArrayLike,
    /,
    *,
    miss_rate: Mapping[Any, float],
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> dict[Any, Threshold]:
    """A threshold for each predicted class, so that few rows of some true classes are accepted with another answer.

    All rates hold together with probability 1 − δ. The rate of a class falls as thresholds rise, so that an order
    statistic of its rows is enough. The threshold of a predicted class depends only on the rates of the other classes.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    predictions, labels : (n,) arrays of names or numbers
        The predicted and the true class of each row; a label that is never predicted, such as −1, may stand for classes
        that the classifier does not know.
    miss_rate : dict of str or int to float
        By true class, the largest share of its rows that may be accepted with another answer.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    dict of str or int to Threshold
        By predicted class, of those in the sample and in ``miss_rate``; each with the guarantees of all.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If a class has too few rows for its rate.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(5000) < 0.05).astype(int)
    >>> p = 1 / (1 + np.exp(-rng.normal(4 * y - 2, 2)))
    >>> thresholds = target_miss_rate(np.abs(p - 0.5), (p > 0.5).astype(int), y, miss_rate={1: 0.05})
    >>> thresholds[1].value, round(thresholds[0].value, 1)
    (-inf, 0.4)
    """
    check_chance("delta", delta)
    rows = _Rows.of(confidence, predictions, labels, miss_rate, ids=ids, seed=seed)
    values, guarantees = rows.values(delta), rows.guarantees(delta)
    classes = sorted({*rows.predictions.tolist(), *miss_rate}, key=str)
    return {k: rows.threshold(k, values, guarantees) for k in classes}


def risk_and_miss_rate(
    confidence: ArrayLike,
    predictions: ArrayLike,
    labels: ArrayLike,
    /,
    *,
    risk: float,
    miss_rate: Mapping[Any, float],
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """One threshold for a risk and the rates of `target_miss_rate`, which hold together with probability 1 − δ.

    Half of δ certifies ranks by `step_down`, the other half finds the confidence above which the miss rates hold. The
    threshold accepts as many rows as both allow.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    predictions, labels : (n,) arrays of int
        The predicted and the true class of each row; a negative label is a class that the classifier does not know.
    risk : float
        The largest selective risk allowed, between 0 and 1.
    miss_rate : dict of int to float
        By true class, the largest share of its rows that may be accepted with another answer.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        Its guarantee is about the risk, those in ``further`` about the classes.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If a class has too few rows for its rate, or no threshold keeps both.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(5000) < 0.05).astype(int)
    >>> p = 1 / (1 + np.exp(-rng.normal(4 * y - 2, 2)))
    >>> c, ŷ = np.abs(p - 0.5), (p > 0.5).astype(int)
    >>> threshold = risk_and_miss_rate(c, ŷ, y, risk=0.1, miss_rate={1: 0.05})
    >>> [each.asked for each in threshold.guarantees]
    [0.1, 0.05]
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    rows = _Rows.of(confidence, predictions, labels, miss_rate, ids=ids, seed=seed)
    part = RISK_SHARE * delta
    floor = max(rows.values(delta - part).values())
    sample = Sample.of(rows.confidence, rows.errors)
    safe = SafeRanks.of(sample, risk, part)
    rank = int(np.max(safe.ranks[safe.ranks <= np.count_nonzero(sample.confidence > floor)], initial=0))
    if not rank:
        reason = "the miss rates need a higher threshold" if safe.largest else "no threshold certifies the risk"
        raise NoSafeThresholdError(
            f"Risk <= {risk:.4g} and the miss rates cannot be certified together on n={len(sample):,} calibration "
            f"rows: {reason}. Label more rows, or use weaker targets on other rows."
        )
    threshold = safe.threshold("risk_and_miss_rate", rank, risk=risk, delta=delta)
    guarantee = replace(threshold.guarantee, **rows.population)
    return replace(threshold, guarantee=guarantee, further=rows.guarantees(delta))


@dataclass(frozen=True)
class _Rows:
    """Independent rows with their answers and classes, and the rates of some classes."""

    confidence: Floats
    predictions: NDArray[Any]
    labels: NDArray[Any]
    rates: Mapping[Any, float]
    population: SampledFrom

    @classmethod
    def of(
        cls,
        confidence: ArrayLike,
        predictions: ArrayLike,
        labels: ArrayLike,
        rates: Mapping[Any, float],
        /,
        *,
        ids: ArrayLike | None,
        seed: int,
    ) -> Self:
        """Rows of confidence, predictions and labels, one of each cluster."""
        if not rates:
            raise InvalidInputError("`miss_rate` must have a rate for at least one class, got none.")
        for rate in rates.values():
            check_target("miss_rate", rate)
        c, answers, truth = as_doubles("confidence", confidence), np.asarray(predictions), np.asarray(labels)
        if c.ndim != 1 or not c.shape == answers.shape == truth.shape or np.isnan(c).any():
            raise InvalidInputError(
                "`confidence`, `predictions` and `labels` must have one value per row, none of them NaN, got shapes "
                f"{c.shape}, {answers.shape} and {truth.shape}."
            )
        drawn = one_per_cluster(c, (answers != truth).astype(np.float64), ids=ids, seed=seed)
        return cls(c[drawn], answers[drawn], truth[drawn], rates, population_of(len(drawn), ids))

    @property
    def errors(self) -> NDArray[np.bool_]:
        """(n,) where the answer is wrong."""
        return self.predictions != self.labels

    def values(self, delta: float) -> dict[Any, float]:
        """For each class with a rate, the threshold above which other answers keep it; all of them with 1 − δ."""
        return {k: self._value(k, rate, delta / len(self.rates)) for k, rate in self.rates.items()}

    def _value(self, k: Any, rate: float, delta: float) -> float:
        inside = self.labels == k
        missed = np.sort(np.where(self.errors, self.confidence, -inf)[inside])
        kept = rank_for_coverage(len(missed), 1 - rate, delta)
        if kept > len(missed):
            needed = ceil(log(delta) / log(1 - rate))
            raise NoSafeThresholdError(
                f"No threshold keeps the miss rate of class {k} at {rate:.4g} on {counted(len(missed), 'row')} of it. "
                f"Label at least {needed:,} rows of that class."
            )
        last = float(missed[kept - 1])
        above = self.confidence[self.confidence - last > CLOSE * np.abs(self.confidence)] if last > -inf else ()
        return between(float(np.min(above)), last) if len(above) else (inf if last > -inf else -inf)

    def guarantees(self, delta: float) -> tuple[Guarantee, ...]:
        """The guarantee of each class that has a rate."""
        of_one = Guarantee(quantity=Quantity.MISS_RATE, target=1.0, probability=1 - delta, **self.population)
        return tuple(replace(of_one, target=rate, groups=(str(k),)) for k, rate in self.rates.items())

    def threshold(self, k: Any, values: dict[Any, float], guarantees: tuple[Guarantee, ...]) -> Threshold:
        """The threshold of a predicted class: the highest that the rates of other classes need."""
        value = max((each for other, each in values.items() if other != k), default=-inf)
        inside = self.predictions == k
        return Threshold.counted(value, "target_miss_rate", self.confidence[inside], self.errors[inside], *guarantees)
