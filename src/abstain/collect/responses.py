"""What a fitted classifier answers, whoever wrote it, as logits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 1e-300  # a probability of zero counts as this


def logits_of(estimator: Any, x: Any, /) -> NDArray[np.float64]:
    """Logits (n, K): the decision values, or else the logs of the probabilities."""
    if hasattr(estimator, "decision_function"):
        if _is_one_vs_one(estimator) and len(estimator.classes_) > 2:
            raise ValueError("`estimator` must have a decision value per class, got one-vs-one. Set it to 'ovr'.")
        values = np.asarray(_single(estimator.decision_function(x), estimator), dtype=np.float64)
        single = values.ndim == 1 or values.shape[1] == 1
        return np.column_stack([-values / 2, values / 2]) if single else values
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"`estimator` must have decision_function or predict_proba, got {type(estimator).__name__}.")
    return np.log(np.maximum(_probabilities(estimator, x), LEAST))


def _probabilities(estimator: Any, x: Any) -> NDArray[np.float64]:
    p = np.asarray(_single(estimator.predict_proba(x), estimator), dtype=np.float64)
    kind = type(estimator).__name__
    if p.ndim != 2 or p.shape[1] < 2:
        raise ValueError(
            f"`predict_proba` must give a column per class, got shape {p.shape} from {kind}. "
            "For the probability p of the second of two classes give np.column_stack([1 - p, p])."
        )
    if not ((p >= 0).all() and np.allclose(p.sum(axis=1), 1, atol=1e-3)):
        raise ValueError(
            f"`predict_proba` must give rows of probabilities that sum to 1, got others from {kind}. "
            "Of a multi-label classifier take one label at a time."
        )
    return p


def _single(values: Any, estimator: Any) -> Any:
    """The values of a classifier with one output: several come as a list of arrays."""
    if isinstance(values, list) and values and np.ndim(values[0]) == 2:
        raise TypeError(
            f"`estimator` must have one output, got {len(values)} from {type(estimator).__name__}. "
            "Give the classifier of one output, such as its estimators_[0]."
        )
    return values.detach().cpu() if hasattr(values, "detach") else values


def _is_one_vs_one(estimator: Any) -> bool:
    for inner in ("best_estimator_", "estimator_"):
        if hasattr(estimator, inner):
            return _is_one_vs_one(getattr(estimator, inner))
    if hasattr(estimator, "steps"):
        return _is_one_vs_one(estimator.steps[-1][1])
    return getattr(estimator, "decision_function_shape", "ovr") == "ovo"
