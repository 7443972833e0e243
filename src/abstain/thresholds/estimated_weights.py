"""Weights for covariate shift, estimated from two unlabelled samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import as_doubles
from abstain.extras import require


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
        raise ValueError(
            f"`source` and `target` must have shapes (n, d) and (m, d) with 5 rows, got {a.shape}, {b.shape}."
        )
    classifier = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=1000))
    domain = np.repeat([0, 1], [len(a), len(b)])
    folds = selection.StratifiedKFold(5, shuffle=True, random_state=0)
    p: Any = selection.cross_val_predict(classifier, np.vstack([a, b]), domain, cv=folds, method="predict_proba")
    odds = p[: len(a), 1] / np.maximum(p[: len(a), 0], 1e-12) * len(a) / len(b)
    return EstimatedWeights(np.clip(odds, 0.0, largest), largest)
