"""Exact binomial bounds and tests, and their relatives for losses between 0 and 1."""

from math import ceil, exp, floor, log, log1p

from scipy.special import betainc, betaincinv


def upper_bound(errors: int, n: int, delta: float, /) -> float:
    """Clopper–Pearson upper bound on a rate, which holds with probability 1 − δ.

    Parameters
    ----------
    errors : int
        Events seen.
    n : int
        Independent rows, of which ``errors`` had the event.
    delta : float
        The probability with which the bound may fail.

    Returns
    -------
    float
        1 where every row had the event.

    Examples
    --------
    >>> round(upper_bound(3, 100, 0.05), 10)
    0.0757107937
    """
    return 1.0 if errors >= n else float(betaincinv(errors + 1, n - errors, 1 - delta))


def lower_bound(errors: int, n: int, delta: float, /) -> float:
    """Clopper–Pearson lower bound on a rate, which holds with probability 1 − δ.

    Parameters
    ----------
    errors : int
        Events seen.
    n : int
        Independent rows, of which ``errors`` had the event.
    delta : float
        The probability with which the bound may fail.

    Returns
    -------
    float
        0 where no row had the event.

    Examples
    --------
    >>> round(lower_bound(3, 100, 0.05), 10)
    0.0082258291
    """
    return 0.0 if errors <= 0 else float(betaincinv(errors, n - errors + 1, delta))


def binomial_p(errors: float, n: int, risk: float, /) -> float:
    """Exact p-value of "the rate is above ``risk``": P(Bin(n, risk) ≤ errors).

    Parameters
    ----------
    errors : float
        Errors seen; fractions are cut off.
    n : int
        Independent rows.
    risk : float
        The rate tested.

    Returns
    -------
    float
        1 for no rows.

    Examples
    --------
    >>> round(binomial_p(3, 200, 0.05), 12)
    0.009048376396
    """
    if n == 0 or errors >= n:
        return 1.0
    return float(betainc(n - floor(errors), floor(errors) + 1, 1 - risk))


def hoeffding_bentkus_p(mean: float, n: int, risk: float, /) -> float:
    """p-value of "the expected loss is above ``risk``" for losses from 0 to 1.

    Parameters
    ----------
    mean : float
        The mean loss of the rows.
    n : int
        Independent rows.
    risk : float
        The expected loss tested.

    Returns
    -------
    float
        1 for no rows.

    Examples
    --------
    >>> round(hoeffding_bentkus_p(0.015, 200, 0.05), 6)
    0.024596

    References
    ----------
    Bates et al., "Distribution-free, risk-controlling prediction sets", JACM 2021.
    """
    if n == 0:
        return 1.0
    low = min(mean, risk)
    relative = (low * log(low / risk) if low > 0 else 0.0) + (
        (1 - low) * log((1 - low) / (1 - risk)) if low < 1 else 0.0
    )
    return min(exp(-n * relative), exp(1) * binomial_p(ceil(n * mean - 1e-9), n, risk), 1.0)


def p_value(total: float, n: int, risk: float, /, *, are_errors: bool) -> float:
    """Of "the expected loss is above risk", given the total loss of n samples: exact for errors of 0 and 1."""
    if not n:
        return 1.0
    return binomial_p(total, n, risk) if are_errors else hoeffding_bentkus_p(total / n, n, risk)


def samples_needed(risk: float, delta: float, /) -> int:
    """The number of accepted samples without an error that certify a risk."""
    return ceil(min(log(delta) / log1p(-risk), 1e300) - 1e-12)  # no infinity for the smallest of numbers
