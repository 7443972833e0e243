"""Covariate shift: certify the risk under another distribution than the sample's, by weights known or estimated."""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain._names import check_name
from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.guarantee import Counting
from abstain.thresholds.sample import check_chance, check_target, one_per_cluster, range_words
from abstain.thresholds.step_down import step_down
from abstain.thresholds.threshold import Threshold

SHIFTED = "rows of the distribution that the weights describe"
ONE_OF_EACH = "one row drawn at random from each cluster, of the distribution that the weights describe"
ESTIMATED = "since the weights are estimated"


@dataclass(frozen=True, eq=False)
class EstimatedWeights:
    """Estimated dP'/dP of the source samples. They void finite-sample guarantees: the note says so, pass it on."""

    weights: NDArray[np.float64]
    largest: float
    note: str = "The weights are estimated, so there is no finite-sample guarantee."


def estimate_weights(source: ArrayLike, target: ArrayLike, /, *, largest: float = 10.0) -> EstimatedWeights:
    """Weights (n,) of source samples by a logistic domain classifier on features (n, d) and (m, d), cut at ``largest``.

    Odds of "from the target" times n/m, each from a model that has not seen the sample (five folds).
    """
    linear_model = require("sklearn.linear_model", extra="sklearn", feature="Estimating weights")
    selection = require("sklearn.model_selection", extra="sklearn", feature="Estimating weights")
    preprocessing = require("sklearn.preprocessing", extra="sklearn", feature="Estimating weights")
    pipeline = require("sklearn.pipeline", extra="sklearn", feature="Estimating weights")
    a, b = as_doubles("source", source), as_doubles("target", target)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or min(len(a), len(b)) < 5:
        raise InvalidInputError(
            f"`source` and `target` must have shapes (n, d) and (m, d) with 5 rows, got {a.shape}, {b.shape}."
        )
    classifier = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=1000))
    domain = np.repeat([0, 1], [len(a), len(b)])
    folds = selection.StratifiedKFold(5, shuffle=True, random_state=0)
    p: Any = selection.cross_val_predict(classifier, np.vstack([a, b]), domain, cv=folds, method="predict_proba")
    odds = p[: len(a), 1] / np.maximum(p[: len(a), 0], 1e-12) * len(a) / len(b)
    return EstimatedWeights(np.clip(odds, 0.0, largest), largest)


def rejection_sample(
    weights: ArrayLike, /, *, largest: float, data: tuple[ArrayLike, ...], seed: int = 0
) -> NDArray[np.bool_]:
    """Keep each sample with probability w / ``largest``: what is kept is an exact sample of the shifted distribution.

    The weights dP'/dP must be known and at most ``largest``. ``data`` are the columns of the rows, such as confidence
    and losses: the draw depends on them, so that it is another one for other rows. (Park et al., 2022)
    """
    w = as_doubles("weights", weights)
    if w.ndim != 1 or not largest > 0 or not ((w >= 0) & (w <= largest)).all():
        raise InvalidInputError(f"`weights` must be between 0 and `largest` ({largest}), got {range_words(w)}.")
    return generator("rejection sampling", seed, *map(coarse, (w, *data))).random(len(w)) < w / largest


def weighted_risk(
    confidence: ArrayLike,
    losses: ArrayLike,
    weights: ArrayLike | EstimatedWeights,
    /,
    *,
    risk: float,
    largest: float | None = None,
    delta: float = 0.05,
    by: Literal["rejection_sampling", "betting"] = "rejection_sampling",
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """A threshold certified for the distribution with density ``weights`` relative to the sample's.

    The weights are at most ``largest``. By rejection sampling, which keeps a true sample of the shifted distribution
    for `step_down`, or by `betting` on all rows, which is better where few weights come near ``largest``. One row of
    each cluster of ``ids`` is used. The guarantee holds if the weights are the true ones; with estimated weights the
    result says that there is no finite-sample guarantee.
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    estimated = isinstance(weights, EstimatedWeights)
    if estimated:
        w, largest = weights.weights, weights.largest if largest is None else largest  # type: ignore[union-attr]
    else:
        w = as_doubles("weights", weights)
    if largest is None:
        raise InvalidInputError("`largest` must be given, a bound on the weights known beforehand, got none.")
    check_name("by", by, ("rejection_sampling", "betting"), rule="be rejection_sampling or betting")
    c, e = as_doubles("confidence", confidence), as_doubles("losses", losses)
    if not c.shape == e.shape == w.shape:
        raise InvalidInputError(f"`weights` must have a weight for each sample, got {w.shape} for {c.shape}.")
    rows = one_per_cluster(c, e, ids=ids, seed=seed)
    order = rows[np.lexsort((w[rows], e[rows], c[rows]))]  # the order in which rows came decides nothing
    c, e, w = c[order], e[order], w[order]
    if by == "betting":
        threshold = betting(c, e, risk=risk, delta=delta, weights=w, largest=largest, seed=seed)
    else:
        kept = rejection_sample(w, largest=largest, data=(c, e), seed=seed)
        if not kept.any():
            raise InvalidInputError(
                "`weights` must keep at least one sample, got none kept. Calibrate on more samples."
            )
        threshold = step_down(c[kept], e[kept], risk=risk, delta=delta)
    counting: Counting = "rows" if ids is None else "clusters"
    guarantee = replace(threshold.guarantee, distribution=SHIFTED if ids is None else ONE_OF_EACH, counting=counting)
    if estimated:
        guarantee = guarantee.unproved(ESTIMATED)
    return replace(threshold, method="weighted_risk", guarantee=guarantee)
