"""How much each score weighs: logistic regressions from strong to weak ridges, averaged by what held-out rows say."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.scores.logistic import fit_logistic, held_out_losses

Floats = NDArray[np.float64]
RIDGES = (10.0, 30.0, 100.0, 300.0, 1000.0)
OF_BASE, OF_CLASSES = 0.3, 1 / 3  # the ridge of the base, and the share of the ridge that classes have
FEWEST = 3  # right and wrong rows that more than the base takes
FLATTEST = 0.01  # weight of the base: no rows turn it around
MOST_CLASSES = 100  # with a part of their own, the most frequent


@final
@dataclass(frozen=True, eq=False)
class Weights:
    """Of the log-odds of being right."""

    intercept: float
    scores: Floats
    """(s,) none negative."""
    classes: Floats
    """(K,) what each predicted class adds, or none (0,)."""


def weigh(
    places: Floats,
    predictions: NDArray[np.int64],
    right: Floats,
    fold: NDArray[np.int64],
    /,
    *,
    base: int,
    classes: int,
) -> Weights:
    """The weights of scores by their places (n, s) among the rows, the mean of the first ``base`` of them being free.

    All else is drawn to zero, by each ridge in turn and by one that leaves nothing else, and the fits are averaged,
    each by the likelihood that it gives to rows held out: few rows leave much of each, and no fit is fallen back to.
    """
    mean = places[:, :base].mean(axis=1, keepdims=True)
    alone = fit_logistic(mean, right, ridge=OF_BASE, rising=np.array([True]))
    if not FEWEST <= right.sum() <= len(right) - FEWEST:
        return Weights(float(alone[0]), _shared(float(alone[1]), np.zeros(places.shape[1]), base), np.zeros(0))
    frequent = np.argsort(-np.bincount(predictions, minlength=classes), kind="stable")[:MOST_CLASSES]
    columns = np.column_stack([mean, places, predictions[:, None] == frequent])
    kinds = np.repeat([0, 1, 2], [1, places.shape[1], len(frequent)])
    fits = [np.pad(alone, (0, columns.shape[1] - 1))]
    losses = [held_out_losses(mean, right, fold, ridge=OF_BASE, rising=np.array([True])).sum()]
    for ridge in RIDGES:
        each = np.array([OF_BASE, ridge, ridge * OF_CLASSES])[kinds]
        fits.append(fit_logistic(columns, right, ridge=each, rising=kinds < 2))
        losses.append(held_out_losses(columns, right, fold, ridge=each, rising=kinds < 2).sum())
    likely = np.exp(min(losses) - np.array(losses))
    found = (likely / likely.sum()) @ np.array(fits)
    offsets = np.zeros(classes)
    offsets[frequent] = found[2 + places.shape[1] :]
    return Weights(float(found[0]), _shared(float(found[1]), found[2 : 2 + places.shape[1]], base), offsets)


def _shared(weight: float, scores: Floats, base: int) -> Floats:
    """The weights of scores, that of the base shared among those it is the mean of."""
    found = scores.copy()
    found[:base] += max(weight, FLATTEST) / base
    return found
