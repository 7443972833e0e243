"""A bound on the risk at every threshold at once."""

from math import log, sqrt


def simultaneous_bound(*, n: int, accepted: int, errors: float, delta: float = 0.05) -> float:
    """Upper bound (E/n + ε)/(A/n − ε), ε = √(ln(2/δ)/2n), on the selective risk at any threshold, chosen in any way.

    By Dvoretzky, Kiefer and Wolfowitz for accepted samples and accepted errors; much looser than a test at a threshold
    chosen beforehand, and 1 where it says nothing.

    >>> round(simultaneous_bound(n=10_000, accepted=5000, errors=50), 7)
    0.0381996
    """
    if not 0 <= errors <= accepted <= n or n < 1:
        raise ValueError(f"`errors` ≤ `accepted` ≤ `n` must hold, got {errors}, {accepted}, {n}.")
    slack = sqrt(log(2 / delta) / (2 * n))
    kept = accepted / n - slack
    return min(1.0, (errors / n + slack) / kept) if kept > 0 else 1.0
