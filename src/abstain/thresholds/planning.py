"""Before you start: how many labelled rows a guarantee needs, and what is achievable with those there are."""

from bisect import bisect_left
from functools import cache
from math import ceil, log, log1p

from abstain._arguments import check_at_least, check_number, check_share
from abstain._bisection import first_of
from abstain._errors import InvalidInputError
from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.power import Assumption, likely
from abstain.thresholds.refusal import rounded_numbers
from abstain.thresholds.segments import segments
from abstain.thresholds.step_down import check_delta

MOST = 100_000_000
FINENESS = 0.02  # relative, of numbers of rows
IN_ROW = 3  # such numbers that must all be enough: the ranks tested move with n, so a larger one may do worse


def samples_for(
    *,
    risk: float,
    delta: float,
    coverage: float,
    error_rate: float,
    power: float = 0.9,
    rising: bool = False,
    label_share: float = 1.0,
) -> int:
    """How many labelled rows `step_down` needs to certify ``risk`` at ``coverage`` with probability ``power``, to 2%.

    Up to 4% more rows are enough too. The closer the error rate is to the risk, the more rows are needed. Most scores
    need a number between those with ``rising`` and without (`samples_range`). Where every row beyond the coverage is
    wrong, somewhat less than the coverage is certified. Without an error, ⌈ln δ / ln(1 − risk)⌉ accepted rows are the
    least.

    Parameters
    ----------
    risk, delta : float
        The target risk, and the probability with which its guarantee may fail.
    coverage : float
        The share of rows to accept.
    error_rate : float
        The true share of errors among the rows accepted at that coverage, below ``risk``.
    power : float
        The probability of success.
    rising : bool
        Whether the error rate grows with the square of the rank, or is constant up to the next tested rank, the
        worst case.
    label_share : float
        The most trusted share of the rows that is labelled (`label_floor`), some percent above the coverage.

    Returns
    -------
    int
        The number of labels, which is that of the rows unless ``label_share`` is below 1.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, or no number of rows is enough.

    Examples
    --------
    >>> samples_for(risk=0.02, delta=0.05, coverage=0.6, error_rate=0.01)
    6455
    """
    return _labels(Assumption(risk, delta, error_rate, power), coverage, label_share, rising=rising)


def _labels(assumed: Assumption, coverage: float, label_share: float, *, rising: bool) -> int:
    """The fewest labels of `samples_for`."""
    check_share("coverage", coverage)
    check_share("label_share", label_share)
    if label_share < coverage:
        raise InvalidInputError(f"`label_share` must be at least `coverage` ({coverage:g}), got {label_share:g}.")
    least = samples_needed(assumed.risk, assumed.delta)
    if least > MOST:
        raise InvalidInputError(
            f"`risk` must be one that {MOST:,} accepted rows certify, got {assumed.risk:g}. Ask for a higher one."
        )

    @cache
    def enough(n: int) -> bool:
        return likely(n, _rows(coverage, n), assumed, rising=rising, labelled=_rows(label_share, n))

    sizes = _sizes()
    sizes = sizes[bisect_left(sizes, least / coverage) :]  # fewer rows never certify
    first = first_of(range(len(sizes)), lambda k: all(map(enough, sizes[k : k + IN_ROW])), 0)
    if first is None:
        raise InvalidInputError(
            f"`error_rate` must be further below `risk` ({assumed.risk:g}) than {assumed.error_rate:g}: no sample is "
            "enough."
        )
    return _rows(label_share, sizes[first])


def samples_range(
    *, risk: float, delta: float, coverage: float, error_rate: float, power: float = 0.9, label_share: float = 1.0
) -> tuple[int, int]:
    """How many labelled rows are needed with a good score, and with one that does not rank the accepted rows at all.

    Parameters
    ----------
    risk, delta, coverage, error_rate, power, label_share : float
        As of `samples_for`.

    Returns
    -------
    tuple of two int

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, or no number of rows is enough.

    Examples
    --------
    >>> samples_range(risk=0.1, delta=0.05, coverage=0.3, error_rate=0.05)
    (1153, 1153)
    """
    assumed = Assumption(risk, delta, error_rate, power)
    low, high = (_labels(assumed, coverage, label_share, rising=rising) for rising in (True, False))
    return min(low, high), high


def coverage_for(*, n: int, risk: float, delta: float, error_rate: float, power: float = 0.9) -> float | None:
    """The least coverage at which ``n`` labelled rows certify ``risk`` with probability ``power``, to three digits.

    Where more can be accepted they do too, as long as no more than ``error_rate`` of these are wrong and none more
    often than one that is trusted less. None where it would take more rows even if all were accepted.

    >>> coverage_for(n=4000, risk=0.02, delta=0.05, error_rate=0.005)
    0.305
    """
    check_at_least("n", n, 1)
    assumed = Assumption(risk, delta, error_rate, power)
    for thousandths in range(ceil(1000 * min((part.first for part in segments(n, risk, delta)), default=n) / n), 1001):
        if likely(n, _rows(thousandths / 1000, n), assumed, beyond=1.0):
            return thousandths / 1000
    return None


def risk_for(*, n: int, delta: float, coverage: float, error_rate: float, power: float = 0.9) -> float:
    """The lowest risk that ``n`` labelled rows certify at ``coverage`` with probability ``power``, to three digits.

    It is assumed that no accepted row is more often wrong than one that is trusted less.

    Parameters
    ----------
    n : int
        Labelled rows.
    delta : float
        The probability with which the guarantee may fail.
    coverage : float
        The share of rows to accept.
    error_rate : float
        The true share of errors among the rows accepted at that coverage.
    power : float
        The probability of success.

    Returns
    -------
    float
        1 where no lower risk is certified.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range.

    Examples
    --------
    >>> risk_for(n=500, delta=0.05, coverage=0.6, error_rate=0.01)
    0.0464
    """
    check_delta(delta)
    check_share("coverage", coverage)
    check_at_least("n", n, 1)
    check_number("error_rate", error_rate)
    if not 0 <= error_rate < 1:
        raise InvalidInputError(f"`error_rate` must be at least 0 and below 1, got {error_rate}.")
    lowest = max(error_rate, -log(delta) / n / 2)
    trials = [risk for risk in rounded_numbers(lowest, digits=3) if risk > lowest]

    def enough(risk: float) -> bool:
        return likely(n, _rows(coverage, n), Assumption(risk, delta, error_rate, power))

    return first_of(trials, enough, 0) or 1.0


@cache
def _sizes() -> list[int]:
    """Numbers of rows that rise by `FINENESS`."""
    steps = int(log(MOST) / log1p(FINENESS)) + 40
    return sorted({round((1 + FINENESS) ** step) for step in range(steps)})


def _rows(coverage: float, n: int) -> int:
    """That share of n rows, or just above it."""
    return max(1, ceil(coverage * n - 1e-9))
