"""Upper bounds on a risk from few labels and many rows without: the exact binomial one, and prediction-powered ones.

The table of docs/negative-results.md. A predictor g gives every row its true chance of an error, drawn from a beta
distribution, of which the mean is the risk r and the variance R² r(1 − r). Errors L are drawn by it. The mean of L − g
over labelled rows is bounded at 0.9δ and that of g over the others at 0.1δ, both by bets with predictable plug-in
(Waudby-Smith and Ramdas, 2024).

Usage: scripts/bench prediction_powered
"""

from typing import Any

import numpy as np
from guarantees import noise
from scipy.special import betaincinv

RUNS, DELTA, LABELLED, UNLABELLED, SHARE = 400, 0.05, 500, 10_000, 0.9
CASES = [(risk, explained) for risk in (0.02, 0.05, 0.2) for explained in (0.2, 0.5, 0.77)]
MOST = 0.5  # of the bet that could ruin


def upper_bounds(values: Any, delta: float) -> Any:
    """(m,) of values (m, n) from 0 to 1: the highest mean that bets on lower values do not rule out."""
    n = values.shape[1]
    steps = np.arange(1, n + 1)
    means = (0.5 + np.cumsum(values, axis=1)) / (steps + 1)
    spread = (0.25 + np.cumsum(np.square(values - means), axis=1)) / (steps + 1)
    before = np.column_stack([np.full(len(values), 0.25), spread[:, :-1]])  # predictable
    stakes = np.sqrt(2 * np.log(1 / delta) / (n * before))
    low, high = values.mean(axis=1), np.ones(len(values))
    for _ in range(20):
        middle = (low + high) / 2
        bets = np.minimum(stakes, (MOST / (1 - middle + 1e-12))[:, None])
        capital = np.log1p(bets * (middle[:, None] - values)).cumsum(axis=1).max(axis=1)
        ruled_out = capital >= np.log(1 / delta)
        low, high = np.where(ruled_out, low, middle), np.where(ruled_out, middle, high)
    return high


def prediction_powered() -> bool:
    """Mean upper bounds, and the share of them that are below the risk."""
    kept = True
    for number, (risk, explained) in enumerate(CASES):
        rng, total = np.random.default_rng([number, 34]), 1 / explained - 1
        g = rng.beta(risk * total, (1 - risk) * total, size=(RUNS, LABELLED))
        errors = rng.random(g.shape) < g
        k = errors.sum(axis=1)
        exact = np.where(k < LABELLED, betaincinv(k + 1, np.maximum(LABELLED - k, 1e-9), 1 - DELTA), 1.0)
        correction = {share: 2 * upper_bounds((errors - g + 1) / 2, share * DELTA) - 1 for share in (SHARE, 1.0)}
        others = rng.beta(risk * total, (1 - risk) * total, size=(RUNS, UNLABELLED))
        powered = correction[SHARE] + upper_bounds(others, (1 - SHARE) * DELTA)
        bounds = {"binomial": exact, "PPI": powered, "PPI, E[g] known": correction[1.0] + risk}
        words = ", ".join(f"{name} {np.mean(each):.1%}" for name, each in bounds.items())
        below = max(float(np.mean(each < risk)) for each in bounds.values())
        print(f"risk {risk:.0%}, R² {explained:.2f}: {words}; below the risk in at most {below:.3f}", flush=True)
        kept &= below <= DELTA + noise(DELTA, RUNS)
    return kept
