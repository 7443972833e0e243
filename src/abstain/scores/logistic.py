"""Logistic regression with ridges and bounds, and the weights of scores that it gives."""

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats

RIDGES = (10.0, 30.0, 100.0, 300.0, 1000.0)
OF_BASE, OF_CLASSES = 0.3, 1 / 3  # the ridge of the base, and the share of the ridge that classes have
FEWEST = 3  # right rows, and wrong rows, to learn more than the weight of the base
FLATTEST = 0.01  # the least weight of the base, whatever the rows show
MOST_CLASSES = 100  # with a part of their own, the most frequent

STEPS, ENOUGH = 100, 1e-9
NEAR = 1e-3  # how near to its bound a coefficient counts as on it, at most; less near the optimum


def fit_logistic(
    columns: Floats, right: Floats, /, *, ridge: float | Floats, rising: NDArray[np.bool_] | None = None
) -> Floats:
    """Coefficients (1 + d,), the intercept first, of lowest log-loss plus ½ Σ ridge b² without the intercept.

    A ridge for each column (d,) or one for all; no coefficient is negative where it must be ``rising`` (d,). Newton's
    method projected on the bounds (Bertsekas, 1982), with those near a bound and pressed on it moved each by itself,
    so that they do not hold up the others; a step that would not lower the objective is halved.
    """
    rows = np.column_stack([np.ones(len(columns)), columns])
    penalty = np.full(rows.shape[1], 1e-9)  # of the intercept: enough for samples that are all right
    penalty[1:] = ridge
    least = np.full(rows.shape[1], -np.inf)
    least[1:] = -np.inf if rising is None else np.where(rising, 0.0, -np.inf)
    coefficients = np.zeros(rows.shape[1])
    value = _objective(rows, right, coefficients, penalty)
    for _ in range(STEPS):
        step, size = _step(rows, right, coefficients, penalty, least), 1.0
        while (
            lower := _objective(rows, right, _moved(coefficients, size * step, least), penalty)
        ) > value and size > ENOUGH:
            size /= 2
        coefficients = _moved(coefficients, size * step, least)
        if value - lower <= ENOUGH * abs(value):
            break
        value = lower
    return coefficients


def _step(rows: Floats, right: Floats, coefficients: Floats, penalty: Floats, least: Floats) -> Floats:
    """That of Newton's method, or for each by itself where a coefficient is near its bound and pressed on it."""
    chance = np.exp(-np.logaddexp(0, -(rows @ coefficients)))
    gradient = rows.T @ (chance - right) + penalty * coefficients
    weight = (chance * (1 - chance))[:, None]
    near = min(NEAR, float(np.linalg.norm(coefficients - _moved(coefficients, gradient, least))))
    free = (coefficients > least + near) | (gradient < 0)
    some = rows[:, free]
    step = np.empty(len(coefficients))
    step[free] = np.linalg.solve((some * weight).T @ some + np.diag(penalty[free]), gradient[free])
    step[~free] = gradient[~free] / ((rows[:, ~free] ** 2 * weight).sum(axis=0) + penalty[~free])
    return step


def _moved(coefficients: Floats, step: Floats, least: Floats) -> Floats:
    return np.maximum(coefficients - step, least)


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
    losses = np.empty(len(right))
    for number in np.unique(fold):
        here = fold == number
        weights = fit_logistic(columns[~here], right[~here], ridge=ridge, rising=rising)
        losses[here] = log_losses(weights[0] + columns[here] @ weights[1:], right[here])
    return losses


def log_losses(log_odds: Floats, right: Floats, /) -> Floats:
    """−log of the chance (n,) given to what was the case; ``right`` may be any share between 0 and 1."""
    return right * np.logaddexp(0, -log_odds) + (1 - right) * np.logaddexp(0, log_odds)


def _objective(rows: Floats, right: Floats, coefficients: Floats, penalty: Floats) -> float:
    return float(log_losses(rows @ coefficients, right).sum() + 0.5 * (penalty * coefficients**2).sum())


@final
@dataclass(frozen=True, eq=False)
class Weights:
    """Of the log-odds of being right."""

    intercept: float
    scores: Floats
    """(s,) none negative."""
    others: Floats
    """(c,) of the other columns, or none (0,)."""


def weigh(
    quantiles: Floats,
    predictions: NDArray[np.int64],
    right: Floats,
    fold: NDArray[np.int64],
    /,
    *,
    base: int,
    classes: int,
) -> Weights:
    """The weights of scores as of `weigh_columns`, the others (K,) being what each predicted class adds."""
    frequent = _frequent(np.bincount(predictions, minlength=classes))
    weights = weigh_columns(quantiles, predictions[:, None] == frequent, right, fold, base=base)
    if not len(weights.others):
        return weights
    offsets = np.zeros(classes)
    offsets[frequent] = weights.others
    return Weights(weights.intercept, weights.scores, offsets)


def weigh_columns(
    quantiles: Floats,
    others: NDArray[np.bool_],
    right: Floats,
    fold: NDArray[np.int64],
    /,
    *,
    base: int,
    ridges: tuple[float, ...] = RIDGES,
) -> Weights:
    """The weights of scores by their quantiles (n, s), the mean of the first ``base`` of them being free.

    All other weights are shrunk to zero, by an infinite ridge and by each of the others in turn. The result is the mean
    of these fits, each weighted by its likelihood of rows held out: of few rows all fits count, of many the best ones.
    """
    if not FEWEST <= right.sum() <= len(right) - FEWEST:
        ridges, others = (), others[:, :0]
    mean = quantiles[:, :base].mean(axis=1, keepdims=True)
    columns = np.column_stack([mean, quantiles, others])
    kinds = np.repeat([0, 1, 2], [1, quantiles.shape[1], others.shape[1]])
    fits, losses = [], []
    for ridge in (inf, *ridges):
        some = slice(0, 1 if ridge == inf else None)
        each, rising = np.array([OF_BASE, ridge, ridge * OF_CLASSES])[kinds[some]], kinds[some] < 2
        fit = fit_logistic(columns[:, some], right, ridge=each, rising=rising)
        fits.append(np.pad(fit, (0, columns.shape[1] + 1 - len(fit))))
        losses.append(held_out_losses(columns[:, some], right, fold, ridge=each, rising=rising).sum())
    likely = np.exp(min(losses) - np.array(losses))
    mean_fit = (likely / likely.sum()) @ np.array(fits)
    scores, rest = np.split(mean_fit[2:], [quantiles.shape[1]])
    scores[:base] += max(mean_fit[1], FLATTEST) / base  # the mean of the base shares its weight
    return Weights(float(mean_fit[0]), scores, rest)


def _frequent(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The most frequent classes, at most 100; of those that tie for the last rank none, whatever their order.

    >>> _frequent(np.array([1, 3, 0, 2]))
    array([1, 3, 0, 2])
    """
    order = np.argsort(-counts, kind="stable")
    if len(order) <= MOST_CLASSES:
        return order
    return order[counts[order] > counts[order[MOST_CLASSES]]]
