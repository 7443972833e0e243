"""Covariate shift with known weights: certify the risk under another distribution than that of the sample."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import as_doubles
from abstain.draws import coarse, generator
from abstain.names import check_name
from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.estimated_weights import EstimatedWeights
from abstain.thresholds.promise import Counting
from abstain.thresholds.sample import check_chance, check_target, one_per_cluster
from abstain.thresholds.step_down import step_down
from abstain.thresholds.threshold import Threshold

SHIFTED = "rows of the distribution that the weights describe"
ONE_OF_EACH = "one row drawn at random from each cluster, of the distribution that the weights describe"
ESTIMATED = "since the weights are estimated"


def rejection_sample(
    weights: ArrayLike, /, *, largest: float, data: tuple[ArrayLike, ...], seed: int = 0
) -> NDArray[np.bool_]:
    """Keep each sample with probability w / ``largest``: what is kept is an exact sample of the shifted distribution.

    The weights dP'/dP must be known and at most ``largest``. ``data`` are the columns of the rows, such as confidence
    and losses: the draw depends on them, so that it is another one for other rows. (Park et al., 2022)
    """
    w = as_doubles("weights", weights)
    if w.ndim != 1 or not largest > 0 or not ((w >= 0) & (w <= largest)).all():
        raise ValueError(f"`weights` must be between 0 and `largest` ({largest}), got others.")
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
    each cluster of ``ids`` is used. The promise holds if the weights are the true ones; with estimated weights the
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
        raise ValueError("`largest` must be given, a bound on the weights known beforehand, got none.")
    check_name("by", by, ("rejection_sampling", "betting"), rule="be rejection_sampling or betting")
    c, e = as_doubles("confidence", confidence), as_doubles("losses", losses)
    if not c.shape == e.shape == w.shape:
        raise ValueError(f"`weights` must have a weight for each sample, got {w.shape} for {c.shape}.")
    rows = one_per_cluster(c, e, ids=ids, seed=seed)
    order = rows[np.lexsort((w[rows], e[rows], c[rows]))]  # the order in which rows came decides nothing
    c, e, w = c[order], e[order], w[order]
    if by == "betting":
        found = betting(c, e, risk=risk, delta=delta, weights=w, largest=largest, seed=seed)
    else:
        kept = rejection_sample(w, largest=largest, data=(c, e), seed=seed)
        if not kept.any():
            raise ValueError("`weights` must keep at least one sample, got none kept. Calibrate on more samples.")
        found = step_down(c[kept], e[kept], risk=risk, delta=delta)
    counting: Counting = "rows" if ids is None else "clusters"
    promise = replace(found.promise, distribution=SHIFTED if ids is None else ONE_OF_EACH, counting=counting)
    if estimated:
        promise = promise.unproved(ESTIMATED)
    return replace(found, method="weighted_risk", promise=promise)
