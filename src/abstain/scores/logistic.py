"""Logistic regression with a ridge, the few lines of it that a learned score needs."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STEPS, ENOUGH = 100, 1e-9
NEAR = 1e-3  # a bound, at most; less as the optimum is


def fit_logistic(
    columns: Floats, right: Floats, /, *, ridge: float | Floats, rising: NDArray[np.bool_] | None = None
) -> Floats:
    """Coefficients (1 + d,), the intercept first, of lowest log-loss plus ½ Σ ridge b² without the intercept.

    A ridge for each column (d,) or one for all; no coefficient is negative where it must be ``rising`` (d,). Newton's
    method projected on the bounds (Bertsekas, 1982), with those near a bound and pressed on it moved each by itself,
    lest they hold up the others; a step that would not lower the objective is halved.
    """
    rows = np.column_stack([np.ones(len(columns)), columns])
    penalty = np.full(rows.shape[1], 1e-9)  # of the intercept: enough for samples that are all right
    penalty[1:] = ridge
    least = np.full(rows.shape[1], -np.inf)
    least[1:] = -np.inf if rising is None else np.where(rising, 0.0, -np.inf)
    found = np.zeros(rows.shape[1])
    value = _objective(rows, right, found, penalty)
    for _ in range(STEPS):
        step, size = _step(rows, right, found, penalty, least), 1.0
        while (lower := _objective(rows, right, _moved(found, size * step, least), penalty)) > value and size > ENOUGH:
            size /= 2
        found = _moved(found, size * step, least)
        if value - lower <= ENOUGH * abs(value):
            break
        value = lower
    return found


def _step(rows: Floats, right: Floats, found: Floats, penalty: Floats, least: Floats) -> Floats:
    """That of Newton's method, or for each by itself where a coefficient is near its bound and pressed on it."""
    chance = np.exp(-np.logaddexp(0, -(rows @ found)))
    gradient = rows.T @ (chance - right) + penalty * found
    weight = (chance * (1 - chance))[:, None]
    near = min(NEAR, float(np.linalg.norm(found - _moved(found, gradient, least))))
    free = (found > least + near) | (gradient < 0)
    some = rows[:, free]
    step = np.empty(len(found))
    step[free] = np.linalg.solve((some * weight).T @ some + np.diag(penalty[free]), gradient[free])
    step[~free] = gradient[~free] / ((rows[:, ~free] ** 2 * weight).sum(axis=0) + penalty[~free])
    return step


def _moved(found: Floats, step: Floats, least: Floats) -> Floats:
    return np.maximum(found - step, least)


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
