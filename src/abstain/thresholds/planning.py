"""Before you start: how many labelled rows a promise needs, and what is in reach with those there are."""

from math import ceil, floor, log, log1p, log10

import numpy as np
from scipy.special import bdtr, bdtri

from abstain.arguments import check_number
from abstain.thresholds.sample import check_target
from abstain.thresholds.step_down import MAIN_SHARE, STARTS

SPENT = 0.75  # of its level: what `step_down` has left, on the whole, where it arrives at the coverage asked for
MOST = 100_000_000


def samples_for(*, risk: float, delta: float, coverage: float, error_rate: float, power: float = 0.9) -> int:
    """Labelled rows needed for `step_down` to certify ``risk`` at ``coverage`` with probability ``power``.

    ``error_rate`` is the true share of errors among the rows accepted at that coverage; it must be below ``risk``, and
    the closer it is the more rows are needed. Without an error, ⌈ln δ / ln(1 − risk)⌉ accepted rows are the least.

    >>> samples_for(risk=0.02, delta=0.05, coverage=0.6, error_rate=0.01)
    2579
    """
    for name, value in (("risk", risk), ("delta", delta), ("power", power)):
        check_target(name, value)
    _check_share("coverage", coverage)
    check_number("error_rate", error_rate)
    if not 0 <= error_rate < risk:
        raise ValueError(f"`error_rate` must be at least 0 and below `risk` ({risk:g}), got {error_rate}.")
    return ceil(_accepted_for(risk, _level(coverage, delta), error_rate, power) / coverage)


def coverage_for(*, n: int, risk: float, delta: float, error_rate: float, power: float = 0.9) -> float | None:
    """The least coverage at which ``n`` labelled rows certify ``risk`` with probability ``power``, to three digits.

    At a higher one they do too, as long as no more than ``error_rate`` of the accepted are wrong; None where it would
    take more rows even if all were accepted.

    >>> coverage_for(n=4000, risk=0.02, delta=0.05, error_rate=0.01)
    0.387
    """
    check_number("n", n)
    if n < 1:
        raise ValueError(f"`n` must be at least 1, got {n}.")
    least = samples_for(risk=risk, delta=delta, coverage=1.0, error_rate=error_rate, power=power) / n
    if least > 1:
        return None
    if least < STARTS[0]:
        below = _accepted_for(risk, _level(0.0, delta), error_rate, power) / n
        least = min(below, STARTS[0])
    return ceil(1000 * least) / 1000


def _accepted_for(risk: float, level: float, error_rate: float, power: float) -> int:
    """Accepted rows that are enough at this level."""
    high = ceil(log(level) / log1p(-risk))
    if high > MOST:
        raise ValueError(f"`risk` must be one that {MOST:,} accepted rows certify, got {risk:g}. Ask for a higher one.")
    while not _enough(high, risk, level, error_rate, power):
        if high > MOST:
            raise ValueError(
                f"`error_rate` must be further below `risk` ({risk:g}) than {error_rate}: no sample is enough."
            )
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _lasting(middle, risk, level, error_rate, power) else (middle, high)
    return high


def risk_for(*, n: int, delta: float, coverage: float, error_rate: float, power: float = 0.9) -> float:
    """The lowest risk that ``n`` labelled rows certify at ``coverage`` with probability ``power``, to three digits.

    >>> risk_for(n=500, delta=0.05, coverage=0.6, error_rate=0.01)
    0.0364
    """
    check_target("delta", delta)
    check_target("power", power)
    _check_share("coverage", coverage)
    check_number("n", n)
    check_number("error_rate", error_rate)
    if n < 1 or not 0 <= error_rate < 1:
        raise ValueError(f"`n` must be at least 1 and `error_rate` at least 0 and below 1, got {n} and {error_rate}.")
    k = max(1, int(coverage * n))
    errors = int(np.searchsorted(bdtr(np.arange(k + 1), k, error_rate), power)) if error_rate else 0
    if errors >= k:
        return 1.0
    found = float(bdtri(errors, k, _level(coverage, delta)))
    unit = 10.0 ** (floor(log10(found)) - 2)
    return float(f"{ceil(found / unit) * unit:.3g}")


def _level(coverage: float, delta: float) -> float:
    """The level at which a rank is tested, on the whole: below the first start of `step_down` it is a small share."""
    return SPENT * delta * (1.0 if coverage >= STARTS[0] else 1 - MAIN_SHARE)


def _check_share(name: str, value: float) -> None:
    check_number(name, value)
    if not 0 < value <= 1:
        raise ValueError(f"`{name}` must be above 0 and at most 1, got {value}.")


def _enough(accepted: int, risk: float, level: float, error_rate: float, power: float) -> bool:
    """Whether few enough errors among these many accepted rows are likely."""
    allowed = _allowed(accepted, risk, level)
    return allowed >= 0 and (not error_rate or float(bdtr(allowed, accepted, error_rate)) >= power)


def _lasting(accepted: int, risk: float, level: float, error_rate: float, power: float) -> bool:
    """The same for the numbers just above too, since whole numbers of errors make it come and go."""
    period = ceil(1 / risk)
    return all(
        _enough(accepted + more, risk, level, error_rate, power) for more in range(0, period, max(1, period // 8))
    )


def _allowed(accepted: int, risk: float, level: float) -> int:
    """The largest number of errors that rejects at this level, −1 for none."""
    low, high = -1, accepted
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bdtr(middle, accepted, risk) <= level else (low, middle)
    return low
