"""Two windows compared once."""

from math import exp

from scipy.special import gammaln


def fisher_p(accepted: int, n: int, accepted_now: int, n_now: int, /) -> float:
    """Two-sided exact p-value that two windows have the same share accepted (Fisher's exact test).

    For one look at one window; looking again and again needs `AcceptanceMonitor`.

    >>> f"{fisher_p(800, 1000, 720, 1000):.4e}"
    '3.4258e-05'
    """
    if not (0 <= accepted <= n and 0 <= accepted_now <= n_now):
        raise ValueError("`accepted` must be between 0 and the size of its window, got other counts.")
    total = accepted + accepted_now

    def log_probability(k: int) -> float:
        return float(_choose(n, k) + _choose(n_now, total - k) - _choose(n + n_now, total))

    seen = log_probability(accepted)
    support = range(max(0, total - n_now), min(n, total) + 1)
    return min(1.0, sum(exp(value) for k in support if (value := log_probability(k)) <= seen + 1e-9))


def _choose(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
