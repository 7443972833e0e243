"""Covariate shift: certify the risk under another distribution than the sample's, by weights known or estimated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain._extras import require
from abstain._names import check_name
from abstain.thresholds.betting_sequence import ClusteredRows
from abstain.thresholds.sample import SampledFrom, as_samples, check_chance, check_target, ordered_rows, range_words
from abstain.thresholds.step_down import step_down
from abstain.thresholds.threshold import Threshold

SHIFTED = "rows of the distribution that the weights describe"
ONE_OF_EACH = "one row drawn at random from each cluster, of the distribution that the weights describe"
ESTIMATED = "since the weights are estimated"


@dataclass(frozen=True, eq=False)
class EstimatedWeights:
    """Estimated dP'/dP of the source samples. They void finite-sample guarantees, which the note states: pass it on.

    Attributes
    ----------
    weights : array
        (n,) the weight of each row.
    largest : float
        The largest weight there can be.
    note : str
        Why there is no finite-sample guarantee.
    """

    weights: NDArray[np.float64]
    largest: float
    note: str = "The weights are estimated, so there is no finite-sample guarantee."


def estimate_weights(source: ArrayLike, target: ArrayLike, /, *, largest: float = 10.0) -> EstimatedWeights:
    """Estimate how much more likely each row is under a target distribution, by a logistic domain classifier.

    The weight is the odds of "from the target" times n/m, from a model that was not fitted on the row (five folds).

    Parameters
    ----------
    source : (n, d) array
        Features of the calibration rows.
    target : (m, d) array
        Features of rows of the target distribution.
    largest : float
        Weights are cut at this.

    Returns
    -------
    EstimatedWeights
        (n,) weights, with the note that they void finite-sample guarantees.

    Raises
    ------
    InvalidInputError
        If shapes differ or there are fewer than five rows.
    MissingExtraError
        If scikit-learn is not installed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> estimate_weights(rng.normal(size=(200, 2)), 1 + rng.normal(size=(200, 2))).weights.shape
    (200,)
    """
    linear_model, selection, preprocessing, pipeline = (
        require(f"sklearn.{name}", extra="sklearn", feature="Estimating weights")
        for name in ("linear_model", "model_selection", "preprocessing", "pipeline")
    )
    a, b = as_doubles("source", source), as_doubles("target", target)
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or min(len(a), len(b)) < 5:
        raise InvalidInputError(
            f"`source` and `target` must have shapes (n, d) and (m, d), at least 5 rows each, got {a.shape} and "
            f"{b.shape}."
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
    """Keep each row with probability w / ``largest``, which leaves an exact sample of the shifted distribution.

    Parameters
    ----------
    weights : (n,) array
        dP'/dP of each row: known, not estimated, and at most ``largest``.
    largest : float
        A bound on the weights, known beforehand.
    data : tuple of (n,) arrays
        Columns of the rows, such as confidence and losses; the draw depends on them, so that other rows get another
        one.
    seed : int
        Of the draw.

    Returns
    -------
    (n,) array of bool
        Which rows are kept.

    Raises
    ------
    InvalidInputError
        If a weight is not between 0 and ``largest``.

    Examples
    --------
    >>> rejection_sample([1.0, 0.0, 1.0], largest=1.0, data=([0.9, 0.8, 0.7],))
    array([ True, False,  True])

    References
    ----------
    Park et al., "PAC prediction sets under covariate shift", ICLR 2022.
    """
    w, _ = _known(weights, largest)
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
    """A threshold certified for another distribution than the sample's, given by weights.

    P(selective risk ≤ ``risk``) ≥ 1 − δ under the distribution with density ``weights`` relative to the sample's,
    if the weights are the true ones. With estimated weights the guarantee is marked as unproved.

    Parameters
    ----------
    confidence : (n,) array
        Confidence of each row; −inf is never accepted.
    losses : (n,) array
        Errors (bool), or losses from 0 to 1.
    weights : (n,) array or EstimatedWeights
        dP'/dP of each row.
    risk : float
        The largest selective risk allowed, between 0 and 1.
    largest : float, optional
        A bound on the weights, known beforehand; that of `EstimatedWeights` where these are given.
    delta : float
        The probability with which the guarantee may fail, at most 0.5.
    by : {"rejection_sampling", "betting"}
        `rejection_sample` and then `step_down`, or the bets of `betting` on all rows, which are better where few
        weights come near ``largest``.
    ids : (n,) array, optional
        Rows with the same id are one cluster, of which one row is drawn: the guarantee is then about clusters.
    seed : int
        Of all draws.

    Returns
    -------
    Threshold
        With its guarantee.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.
    NoSafeThresholdError
        If no threshold can be certified; it lists the targets that can be.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(2000)
    >>> errors = rng.random(2000) < 0.3 * u**2
    >>> weighted_risk(1 - u, errors, np.where(u < 0.5, 1.5, 0.5), risk=0.05, largest=1.5).guarantee.proved
    True
    """
    check_target("risk", risk)
    check_chance("delta", delta)
    check_name("by", by, ("rejection_sampling", "betting"), rule="be rejection_sampling or betting")
    (c, e), (w, largest) = as_samples(confidence, losses), _known(weights, largest)
    if w.shape != c.shape:
        raise InvalidInputError(f"`weights` must have a weight for each sample, got {w.shape} for {c.shape}.")
    rows = ordered_rows(c, e, w, ids=ids, seed=seed)
    c, e, w = c[rows], e[rows], w[rows]
    population: SampledFrom = {"distribution": SHIFTED, "counting": "rows", "largest": None}
    if ids is not None:
        population = {"distribution": ONE_OF_EACH, "counting": "clusters", "largest": None}
    if by == "betting":
        weighted = ClusteredRows.of(c, e, w, np.arange(len(c)), largest, of_sample=False)
        threshold = weighted.certified(population, risk=risk, delta=delta, seed=seed)
    else:
        kept = rejection_sample(w, largest=largest, data=(c, e), seed=seed)
        if not kept.any():
            raise InvalidInputError(
                "`weights` must keep at least one sample, got none kept. Calibrate on more samples."
            )
        threshold = step_down(c[kept], e[kept], risk=risk, delta=delta)
    guarantee = replace(threshold.guarantee, **population)
    if isinstance(weights, EstimatedWeights):
        guarantee = guarantee.unproved(ESTIMATED)
    return replace(threshold, method="weighted_risk", guarantee=guarantee)


def _known(weights: ArrayLike | EstimatedWeights, largest: float | None) -> tuple[NDArray[np.float64], float]:
    """Weights from 0 to their largest, and that."""
    if isinstance(weights, EstimatedWeights):
        largest, weights = weights.largest if largest is None else largest, weights.weights
    if largest is None:
        raise InvalidInputError("`largest` must be given, a bound on the weights known beforehand, got none.")
    w = as_doubles("weights", weights)
    if w.ndim != 1 or not largest > 0 or not ((w >= 0) & (w <= largest)).all():
        raise InvalidInputError(f"`weights` must be between 0 and `largest` ({largest}), got {range_words(w)}.")
    return w, largest
