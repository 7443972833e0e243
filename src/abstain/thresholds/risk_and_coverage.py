"""`risk_and_coverage`: a risk and a coverage that are promised together."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from numpy.typing import ArrayLike

from abstain.thresholds.achievable import ELSEWHERE, Achievable, achievable_words, lowest_in_reach
from abstain.thresholds.coverage import rank_for_coverage
from abstain.thresholds.promise import COVERAGE, Promise
from abstain.thresholds.risk import RISKS, certified
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.step_down import largest_safe_rank
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold
from abstain.thresholds.trade_off import trade_off

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
    """A threshold with risk at most ``risk`` *and* coverage at least ``coverage``, both with probability 1 − δ.

    A quarter of δ fixes the rank from which on the coverage is kept; `step_down` with the rest of δ begins there, which
    certifies more than it does from lower ranks. Where both cannot be kept, the error names pairs that can.
    """
    check_target("risk", risk)
    check_target("coverage", coverage)
    check_chance("delta", delta)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    part = COVERAGE_SHARE * delta

    def rank_for(trial: float, share: float) -> int:
        first = rank_for_coverage(len(sample), share, part)
        return largest_safe_rank(sample, trial, delta - part, first=first) if first <= len(sample) else 0

    rank = rank_for(risk, coverage)
    if not rank:

        @cache
        def reach() -> float | None:
            return lowest_in_reach(lambda trial: rank_for(trial, coverage) > 0, risk)

        @cache
        def achievable() -> tuple[Achievable, ...]:
            risks = tuple(sorted({risk, *RISKS}))
            found = trade_off(confidence, losses, risks=risks, delta=delta, ids=ids, seed=seed)
            here = [] if (lowest := reach()) is None else [Achievable(lowest, delta, coverage)]
            pairs = [pair for one in found if (pair := _pair(one, rank_for, delta)) is not None]
            lowest_of = {pair.coverage: pair for pair in reversed(pairs)}
            return (*here, *reversed(lowest_of.values()))

        def message() -> str:
            return (
                f"Risk <= {risk:.4g} and coverage >= {coverage:.4g} cannot be certified together on n={len(sample):,} "
                f"calibration rows. {achievable_words(achievable(), delta)} Label more rows, or {ELSEWHERE}."
            )

        raise NoSafeThresholdError(message, in_reach=reach, achievable=achievable)
    found = certified("risk_and_coverage", sample, rank, risk=risk, delta=delta)
    covers = Promise(
        quantity=COVERAGE,
        target=coverage,
        relation="at least",
        probability=1 - delta,
        distribution=sample.distribution,
        counting=sample.counting,
    )
    return replace(found, further=(covers,))


def _pair(found: Threshold, rank_for: Callable[[float, float], int], delta: float) -> Achievable | None:
    """A risk and the largest percentage of rows that can be asked for with it: tried, not only observed."""
    risk = found.promise.target or 0.0
    tried = range(min(99, 100 * found.accepted // found.n), 0, -1)
    return next((Achievable(risk, delta, each / 100) for each in tried if rank_for(risk, each / 100)), None)
