"""`risk_and_coverage`: a risk and a coverage that are promised together."""

from dataclasses import replace
from functools import cache

from numpy.typing import ArrayLike

from abstain.thresholds.coverage import rank_for_coverage
from abstain.thresholds.promise import COVERAGE, Promise
from abstain.thresholds.risk import certified, lowest_in_reach, reach_words
from abstain.thresholds.sample import Sample, check_target
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
    for name, value in (("risk", risk), ("coverage", coverage), ("delta", delta)):
        check_target(name, value)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    part = COVERAGE_SHARE * delta
    first = rank_for_coverage(len(sample), coverage, part)

    def rank_for(trial: float) -> int:
        return largest_safe_rank(sample, trial, delta - part, first=first) if first <= len(sample) else 0

    rank = rank_for(risk)
    if not rank:

        @cache
        def reach() -> float | None:
            return lowest_in_reach(lambda trial: rank_for(trial) > 0, risk)

        def message() -> str:
            pairs = trade_off(confidence, losses, delta=delta, ids=ids, seed=seed)
            listed = ", ".join(f"{t.promise.target:g} at {t.accepted / t.n:.0%}" for t in pairs) or "none"
            instead = reach_words(reach())
            return (
                f"Risk <= {risk:.4g} and coverage >= {coverage:.4g} cannot be certified together on n={len(sample)} "
                f"calibration samples. At this coverage {instead}; without it these risks are, at coverages: {listed}."
            )

        raise NoSafeThresholdError(message, in_reach=reach)
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
