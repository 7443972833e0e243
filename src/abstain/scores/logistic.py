"""Logistic regression with a ridge, the few lines of it that a learned score needs."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS, ENOUGH = 100, 1e-9


def fit_logistic(
    columns: Floats, right: Floats, /, *, ridge: float | Floats, rising: NDArray[np.bool_] | None = None
) -> Floats:
    """Coefficients (1 + d,), the intercept first, of lowest log-loss plus ½ Σ ridge b² without the intercept.

    A ridge for each column (d,) or one for all. Where it must be ``rising`` (d,) in a column, those of negative
    coefficients are left out until there is none.
    """
    rows = np.column_stack([np.ones(len(columns)), columns])
    penalty = np.full(rows.shape[1], 1e-9)  # of the intercept: enough for samples that are all right
    penalty[1:] = ridge
    bound = np.zeros(rows.shape[1], dtype=bool)
    bound[1:] = False if rising is None else rising
    kept, found = np.ones(rows.shape[1], dtype=bool), np.zeros(rows.shape[1])
    while True:
        found[kept] = _newton(rows[:, kept], right, penalty[kept], found[kept])
        falling = bound & (found < 0)
        if not falling.any():
            return found
        kept &= ~falling
        found[falling] = 0


def _newton(rows: Floats, right: Floats, penalty: Floats, start: Floats) -> Floats:
    """Newton's method; a step that would not lower the objective is halved, so that it always converges."""
    found, value = start, _objective(rows, right, start, penalty)
    for _ in range(STEPS):
        chance = np.exp(-np.logaddexp(0, -(rows @ found)))
        gradient = rows.T @ (chance - right) + penalty * found
        curvature = (rows * (chance * (1 - chance))[:, None]).T @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (lower := _objective(rows, right, found - size * step, penalty)) > value and size > ENOUGH:
            size /= 2
        found = found - size * step
        if value - lower <= ENOUGH * abs(value):
            break
        value = lower
    return found


def held_out_losses(
    columns: Floats,
    right: Floats,
    fold: NDArray[np.int64],
    /,
    *,
    ridge: float | Floats,
    rising: NDArray[np.bool_] | None = None,
) -> Floats:
    """The log-loss (n,) of each row by a fit on the other folds."""
    found = np.empty(len(right))
    for number in np.unique(fold):
        here = fold == number
        weights = fit_logistic(columns[~here], right[~here], ridge=ridge, rising=rising)
        found[here] = log_losses(weights[0] + columns[here] @ weights[1:], right[here])
    return found


def log_losses(log_odds: Floats, right: Floats, /) -> Floats:
    """−log of the chance (n,) given to what was the case."""
    return np.logaddexp(0, np.where(right > 0, -log_odds, log_odds))


def _objective(rows: Floats, right: Floats, found: Floats, penalty: Floats) -> float:
    return float(log_losses(rows @ found, right).sum() + 0.5 * (penalty * found**2).sum())
