"""A risk and a coverage that are guaranteed together, and the trade-off between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from numpy.typing import ArrayLike

from abstain._errors import InvalidInputError
from abstain.thresholds.coverage import rank_for_coverage
from abstain.thresholds.guarantee import Guarantee, Quantity
from abstain.thresholds.refusal import ELSEWHERE, Achievable, NoSafeThresholdError, lowest_achievable
from abstain.thresholds.risk import RISKS
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.step_down import SafeRanks
from abstain.thresholds.threshold import Threshold

COVERAGE_SHARE = 0.25  # of δ


def risk_and_coverage(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    coverage: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """A threshold with risk at most ``risk`` and coverage at least ``coverage``, both together with probability 1 − δ.

    A quarter of δ fixes the rank from which on the coverage is kept; `step_down` with the rest of δ begins there,
    which certifies more than it does from lower ranks.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    risk : float
        The largest selective risk allowed, between 0 and 1.
    coverage : float
        The smallest share of rows to accept, between 0 and 1.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    Threshold
        Its guarantee is about the risk, the one in ``further`` about the coverage.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If both cannot be kept together; it lists pairs that can.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> risk_and_coverage(1 - u, errors, risk=0.1, coverage=0.6).accepted >= 1200
    True
    """
    check_target("risk", risk)
    check_target("coverage", coverage)
    check_chance("delta", delta)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    part = COVERAGE_SHARE * delta

    def safe_for(trial: float, share: float) -> SafeRanks:
        return SafeRanks.of(sample, trial, delta - part, first=rank_for_coverage(len(sample), share, part))

    safe = safe_for(risk, coverage)
    if not safe.largest:
        raise NoSafeThresholdError(
            f"Risk <= {risk:.4g} and coverage >= {coverage:.4g} cannot be certified together on n={len(sample):,} "
            "calibration rows.",
            advice=f"Label more rows, or {ELSEWHERE}.",
            delta=delta,
            search=lambda: _achievable(sample, safe_for, risk, coverage, delta),
        )
    covers = Guarantee(
        quantity=Quantity.COVERAGE, target=coverage, relation="at least", probability=1 - delta, **sample.population
    )
    threshold = safe.threshold("risk_and_coverage", safe.largest, risk=risk, delta=delta)
    return replace(threshold, further=(covers,))


def _achievable(
    sample: Sample, safe_for: Callable[[float, float], SafeRanks], risk: float, coverage: float, delta: float
) -> tuple[Achievable, ...]:
    """The lowest risk at this coverage, then the lowest of the usual risks at each coverage that one has."""
    lowest = lowest_achievable(lambda trial: safe_for(trial, coverage).largest > 0, risk)
    pairs: dict[float, Achievable] = {}
    risks = sorted({risk, *RISKS})
    for each in risks:
        accepted = SafeRanks.of(sample, each, delta / len(risks)).largest
        tried = (percent / 100 for percent in range(min(99, 100 * accepted // len(sample)), 0, -1))
        share = next((share for share in tried if safe_for(each, share).largest), None)
        if share is not None:
            pairs.setdefault(share, Achievable(each, delta, share))
    first = [] if lowest is None else [Achievable(lowest, delta, coverage)]
    return (*first, *pairs.values())


def trade_off(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risks: tuple[float, ...] = RISKS,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> list[Threshold]:
    """The threshold of `step_down` for each of several risks that is achievable, lowest risk first.

    All guarantees hold together with probability 1 − δ, each being tested at δ over their number. So one of them
    may be chosen after looking at all.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    risks : tuple of float
        Different target risks.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of the draw of one row from each cluster.

    Returns
    -------
    list of Threshold

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> [threshold.guarantee.target for threshold in trade_off(1 - u, errors, risks=(0.001, 0.05, 0.1))]
    [0.05, 0.1]
    """
    check_chance("delta", delta)
    if not risks or len(set(risks)) < len(risks):
        raise InvalidInputError(f"`risks` must be different target risks, got {risks}.")
    for risk in risks:
        check_target("risks", risk)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    level = delta / len(risks)
    safe = {risk: SafeRanks.of(sample, risk, level) for risk in sorted(risks)}
    together = f"one of {len(risks)} guarantees that hold together with probability {1 - delta:.4g}"
    thresholds = [
        ranks.threshold("step_down", ranks.largest, risk=risk, delta=level)
        for risk, ranks in safe.items()
        if ranks.largest
    ]
    return [replace(threshold, guarantee=threshold.guarantee.noting(together)) for threshold in thresholds]
