"""How much more frequent rows like a reference row are among new rows, by a domain classifier on the outputs."""

import numpy as np

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.scores.held_out import FOLDS, folds
from abstain.scores.logistic import fit_logistic
from abstain.scores.logit_scores import logit_scores
from abstain.scores.quantile_map import QuantileMap

RIDGE = 10.0
LARGEST = 20.0  # weight of a row: a few rows must not stand for all
MOST_ROWS = 10_000  # of each side that the classifier is fitted on
MOST_CLASSES = 50  # predicted classes with a column of their own, the most frequent


def density_ratio(reference: Outputs, confidence: Floats, new: Outputs, new_confidence: Floats, /) -> Floats:
    """(n,) weights of the reference rows, mean 1, each from a classifier that was not fitted on the row.

    The classifier is a logistic regression on quantiles of the selector's score and of the logit scores, and on the
    predicted class: what the outputs show of a row, in few columns, since on all features two samples are nearly
    always told apart and a few rows get all the weight.
    """
    columns = _columns(reference, confidence, new, new_confidence)
    known, fresh = columns[: len(reference)], columns[len(reference) :]
    known_fold, fresh_fold = folds(reference), folds(new)
    log_odds = np.zeros(len(reference))
    for number in range(FOLDS):
        here = known_fold == number
        first = _some(known[~here], confidence[~here])
        second = _some(fresh[fresh_fold != number], new_confidence[fresh_fold != number])
        if min(len(first), len(second)):
            is_new = np.repeat([0.0, 1.0], [len(first), len(second)])
            weights = fit_logistic(np.vstack([first, second]), is_new, ridge=RIDGE)
            log_odds[here] = weights[0] + known[here] @ weights[1:] + np.log(len(first) / len(second))
    ratio = np.minimum(np.exp(np.minimum(log_odds, 700.0)), LARGEST)
    return np.asarray(ratio / ratio.mean())


def _columns(reference: Outputs, confidence: Floats, new: Outputs, new_confidence: Floats) -> Floats:
    """(n + m, d) quantiles of every score in both samples together, and the predicted class."""
    scores = {"": np.r_[confidence, new_confidence]}
    if reference.n_classes:
        known, fresh = logit_scores(reference.logits), logit_scores(new.logits)
        scores |= {name: np.r_[known[name], fresh[name]] for name in known}
    columns = [np.asarray(QuantileMap.of(values)(values)) for values in scores.values()]
    if reference.n_classes:
        predictions = np.r_[reference.predictions, new.predictions]
        frequent = np.argsort(-np.bincount(predictions), kind="stable")[:MOST_CLASSES]
        columns += [(predictions == each).astype(np.float64) for each in frequent]
    return np.column_stack(columns)


def _some(columns: Floats, confidence: Floats) -> Floats:
    """At most so many rows, evenly spaced in the order of confidence, so that the order of rows decides nothing."""
    if len(columns) <= MOST_ROWS:
        return columns
    return columns[np.argsort(confidence, kind="stable")[np.linspace(0, len(columns) - 1, MOST_ROWS).astype(np.int64)]]
