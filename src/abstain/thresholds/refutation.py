"""Is a guaranteed rate consistent with new rows? An exact test for independent rows, bets for rows in clusters."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from abstain._arrays import Floats
from abstain._bisection import first_number
from abstain._kernels.counts import numbered
from abstain.thresholds.betting import bets_for, log_capital
from abstain.thresholds.binomial import lower_bound, upper_bound
from abstain.thresholds.guarantee import Guarantee
from abstain.thresholds.sample import check_chance, check_target

Verdict = Literal["confirmed", "consistent", "refuted", "too little data"]
ENOUGH_POWER = 0.8
VACUOUS = "it says nothing that rows could break"
GRADED = 2.0 ** np.arange(4.0)  # for losses, which vary less than errors by a factor not known beforehand
STEPS = np.arange(4.0) / 3  # from the bet for rows that are independent to the one for clusters of copies


@final
@dataclass(frozen=True, kw_only=True)
class Refutation:
    """What new rows say of "the rate of events among the trials is at most ``limit``"."""

    limit: float
    trials: int
    events: int | float
    """Their number, an integer, or the total of losses between 0 and 1."""
    p_value: float
    """That the rows would be at least so bad if the guarantee were kept; at most its level with that probability."""
    low: float
    high: float
    """The rate is above ``low`` with probability 1 − level, and below ``high`` with probability 1 − δ."""
    delta: float
    alternative: float
    """A rate that should not go unnoticed: twice the limit, or halfway to 1."""
    power: float
    """The probability of noticing it; for clusters about that, by the number of rows they are worth."""
    by: Literal["binomial", "betting"]
    largest: int
    """Rows that a cluster is taken to have at most; 1 for independent rows."""
    verdict: Verdict


def refutation(
    events: NDArray[Any],
    trials: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None = None,
    /,
    *,
    limit: float,
    level: float = 0.05,
    delta: float = 0.05,
    largest: int = 1,
) -> Refutation:
    """Test that at most ``limit`` of the trials are events, on new rows (n,), of which ``clusters`` belong together.

    Independent rows: given their number the events are binomial, so P(Bin(k, limit) ≥ events) is an exact p-value.
    Clusters: Z = Σ trial·(event − limit) over a cluster has no mean above 0 if the guarantee is kept, and is at least
    −limit·M, so that bets on Z being positive win 1/level with probability at most level (Markov); M is the ``largest``
    number of trials that a cluster can have, which must be known beforehand: `Evidence` has it.

    Losses from 0 to 1 in place of events are tested by bets too, each row a cluster where rows are independent.

    The guarantee is refuted if the p-value is at most ``level``, confirmed if the rows alone prove it with probability
    1 − ``delta``; otherwise they are consistent with it, unless they are too few to notice a rate of twice the limit
    with probability 0.8.
    """
    check_target("limit", limit)
    check_chance("level", level)
    alternative = min(2 * limit, (1 + limit) / 2)
    counts = _counts(events, trials, clusters, largest)
    p, high = counts.p_value(limit, level), counts.high(delta)
    power = _power(counts.independent_rows(limit), limit, alternative, level)
    return Refutation(
        limit=limit,
        trials=int(np.count_nonzero(trials)),
        events=int(np.count_nonzero(events & trials)) if events.dtype == bool else float(events[trials].sum()),
        p_value=p,
        low=counts.low(level),
        high=high,
        delta=delta,
        alternative=alternative,
        power=power,
        by="binomial" if isinstance(counts, _Binomial) else "betting",
        largest=int(counts.largest),
        verdict=_verdict(is_refuted=p <= level, is_confirmed=high <= limit, power=power),
    )


def _verdict(*, is_refuted: bool, is_confirmed: bool, power: float) -> Verdict:
    if is_refuted:
        return "refuted"
    if is_confirmed:
        return "confirmed"
    return "consistent" if power >= ENOUGH_POWER else "too little data"


def untestable(guarantee: Guarantee, /) -> str:
    """Why fresh rows cannot refute a guarantee; nothing if they can."""
    if guarantee.quantity.event is None:
        return "only shares of errors, of accepted rows and of missed rows, and mean losses can be tested"
    if guarantee.probability is None:
        return "it is kept on average over calibration samples, so that no single selector can break it"
    return "" if 0 < guarantee.limit < 1 else VACUOUS


def refutation_p(
    events: NDArray[Any],
    trials: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None = None,
    /,
    *,
    limit: float,
    level: float = 0.05,
    largest: int = 1,
) -> float:
    """The p-value of `refutation` alone; of clusters it is valid at any level, and bets aim at this one."""
    return _counts(events, trials, clusters, largest).p_value(limit, level)


def p_above(
    parts: Sequence[NDArray[np.int64]],
    errors: NDArray[Any],
    accepted: NDArray[np.bool_],
    clusters: NDArray[np.int64] | None,
    /,
    *,
    limit: float,
    level: float,
    largest: int,
) -> list[float]:
    """Of each part, given by its rows, Holm's p-value of "its risk among the accepted is at most ``limit``".

    To call all with a p-value of at most ``level`` above the limit is wrong anywhere with probability at most
    ``level``. A part of which nothing is accepted counts too: which those are may depend on clusters that others share.
    """
    p_values = [
        refutation_p(
            errors[rows],
            accepted[rows],
            None if clusters is None else numbered(clusters[rows])[0],
            limit=limit,
            level=level / len(parts),
            largest=largest,
        )
        if accepted[rows].any()
        else 1.0
        for rows in parts
    ]
    return holm(p_values)


def holm(p: Sequence[float], /) -> list[float]:
    """P-values adjusted for their number (Holm, 1979): at least as powerful as the level over their number.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    steps = np.asarray(p)[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return [float(value) for value in adjusted]


def _power(n: int, limit: float, rate: float, level: float) -> float:
    """The probability that the binomial test on n rows refutes the limit if this is the rate."""
    fewest = bisect_left(range(1, n + 1), True, key=lambda events: bool(bdtrc(events - 1, n, limit) <= level)) + 1
    return 0.0 if fewest > n else float(bdtrc(fewest - 1, n, rate))


@dataclass(frozen=True)
class _Binomial:
    """The number of independent trials and of events among them."""

    trials: int
    events: int
    largest: float = 1

    def p_value(self, limit: float, _level: float) -> float:
        """P(Bin(trials, limit) ≥ events)."""
        return float(bdtrc(self.events - 1, self.trials, limit)) if self.events else 1.0

    def low(self, level: float) -> float:
        """A lower bound on the rate."""
        return lower_bound(self.events, self.trials, level)

    def high(self, level: float) -> float:
        """An upper bound on the rate."""
        return upper_bound(self.events, self.trials, level)

    def independent_rows(self, _limit: float) -> int:
        """How many independent rows these are worth."""
        return self.trials


@dataclass(frozen=True)
class _Bets:
    """Trials and events of each cluster (c,), of which none can have more trials than ``largest``."""

    trials: Floats
    events: Floats
    largest: float
    steps: Floats
    """Of the bets, times the one for independent errors."""

    @classmethod
    def of(
        cls,
        events: NDArray[Any],
        trials: NDArray[np.bool_],
        clusters: NDArray[np.int64] | None,
        largest: int,
    ) -> "_Bets":
        """The counts of clusters, or those of rows, each of which is one."""
        if clusters is None:
            each = [np.ones(np.count_nonzero(trials)), events[trials].astype(np.float64)]
        else:
            each = [np.bincount(clusters, weights=values).astype(np.float64) for values in (trials, events * trials)]
        most = max(float(largest), each[0].max(initial=1.0))
        return cls(each[0], each[1], most, GRADED if clusters is None else most**-STEPS)

    def _stakes(self, rate: float, level: float, ruin: float) -> Floats:
        """Bets for clusters of this rate."""
        largest = self.largest * ruin
        return bets_for(rate * (1 - rate), len(self.trials), level, largest=largest, steps=self.steps)

    def p_value(self, limit: float, level: float) -> float:
        """Of "the rate is at most limit"."""
        capital = log_capital(limit * self.trials - self.events, self._stakes(limit, level, limit))
        return min(1.0, exp(min(0.0, -capital)))

    def _rules_out_above(self, rate: float, level: float) -> bool:
        """Whether bets rule out that the rate is at least this."""
        return log_capital(self.events - rate * self.trials, self._stakes(rate, level, 1 - rate)) >= -log(level)

    def high(self, level: float) -> float:
        """The highest rate that bets do not rule out."""
        if not self._rules_out_above(1 - 1e-9, level):
            return 1.0
        return first_number(lambda rate: self._rules_out_above(rate, level), 0.0, 1.0, within=1e-6)

    def low(self, level: float) -> float:
        """The lowest rate that bets do not rule out."""
        if self.p_value(1e-9, level) > level:
            return 0.0
        return first_number(lambda rate: self.p_value(rate, level) > level, 0.0, 1.0, within=1e-6) - 1e-6

    def independent_rows(self, limit: float) -> int:
        """How many independent rows these are worth, at most as many as they are."""
        total = float(self.trials.sum())
        spread = float(np.square(self.events - limit * self.trials).sum())
        return int(total / max(1.0, spread / (total * limit * (1 - limit)))) if total else 0


def _counts(
    events: NDArray[Any], trials: NDArray[np.bool_], clusters: NDArray[np.int64] | None, largest: int
) -> _Binomial | _Bets:
    """What tests the trials: bets for rows in clusters and losses between 0 and 1, else the binomial distribution."""
    if clusters is None and events.dtype == bool:
        return _Binomial(int(np.count_nonzero(trials)), int(np.count_nonzero(events & trials)))
    return _Bets.of(events, trials, clusters, largest)
