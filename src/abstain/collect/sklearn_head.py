"""Logits of a scikit-learn classifier: from its linear last layer, else from its decision values or probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import from_torch
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain.outputs.probabilities import LEAST

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "relu": lambda v: np.maximum(v, 0),
    "tanh": np.tanh,
    "logistic": lambda v: 1 / (1 + np.exp(-v)),
    "identity": lambda v: v,
}


@final
@dataclass(frozen=True, eq=False)
class LinearHead:
    """``coef_`` (linear models, SVMs) or the last of ``coefs_`` (MLPClassifier), of a pipeline's last step too."""

    before: Any
    """The steps of a pipeline before the last, or None."""
    last: Any
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]

    @classmethod
    def of(cls, estimator: Any, /) -> Self | None:
        """The head of a fitted classifier; None where its rows are pairs of classes, as in an SVC."""
        steps = getattr(estimator, "steps", None)
        last = steps[-1][1] if steps else estimator
        layer = _weights(last)
        if layer is None:
            return None
        weight, bias = layer
        k = len(last.classes_)
        if k > 2 and (len(weight) != k or hasattr(last, "support_")):  # for 3 classes there are 3 pairs
            return None
        if len(weight) == 1:  # a binary classifier's single row s becomes −s/2 and s/2, whose gap is s
            weight, bias = np.vstack([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
        before = estimator[:-1] if steps and len(steps) > 1 else None
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        return cls(before, last, weight, np.broadcast_to(bias, len(weight)).astype(np.float64))

    def on(self, x: Any, /, *, with_features: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Logits, and features if ``with_features``."""
        if self.before is not None:
            x = self.before.transform(x)
        features = self._features(x if hasattr(x, "toarray") else np.asarray(x))
        logits = np.asarray(features @ self.weight.T + self.bias)
        if not with_features:
            return logits, None
        return logits, features.toarray() if hasattr(features, "toarray") else features

    def _features(self, x: Any) -> Any:
        if not hasattr(self.last, "coefs_"):
            return x.astype(np.float64)
        activate = ACTIVATIONS[self.last.activation]
        for weight, bias in zip(self.last.coefs_[:-1], self.last.intercepts_[:-1], strict=True):
            x = activate(x @ weight + bias)
        return x


def _weights(estimator: Any) -> tuple[NDArray[Any], NDArray[Any]] | None:
    if not hasattr(estimator, "classes_"):
        return None
    if hasattr(estimator, "coefs_"):
        return estimator.coefs_[-1].T, estimator.intercepts_[-1]
    if not (hasattr(estimator, "coef_") and hasattr(estimator, "intercept_")):
        return None
    coef = estimator.coef_.toarray() if hasattr(estimator.coef_, "toarray") else estimator.coef_
    return np.atleast_2d(coef), np.atleast_1d(estimator.intercept_)


def estimator_logits(estimator: Any, x: Any, /) -> NDArray[np.float64]:
    """Logits (n, K): the decision values, or else the logs of the probabilities."""
    if hasattr(estimator, "decision_function"):
        if _is_one_vs_one(estimator) and len(estimator.classes_) > 2:
            raise InvalidInputError(
                "`estimator` must have a decision value per class, got one-vs-one. Set it to 'ovr'."
            )
        values = np.asarray(_single(estimator.decision_function(x), estimator), dtype=np.float64)
        single = values.ndim == 1 or values.shape[1] == 1
        return np.column_stack([-values / 2, values / 2]) if single else values
    if not hasattr(estimator, "predict_proba"):
        raise InvalidTypeError(
            f"`estimator` must have decision_function or predict_proba, got {type(estimator).__name__}."
        )
    return np.log(np.maximum(_probabilities(estimator, x), LEAST))


def _probabilities(estimator: Any, x: Any) -> NDArray[np.float64]:
    p = np.asarray(_single(estimator.predict_proba(x), estimator), dtype=np.float64)
    kind = type(estimator).__name__
    if p.ndim != 2 or p.shape[1] < 2:
        raise InvalidInputError(
            f"`predict_proba` must give a column per class, got shape {p.shape} from {kind}. "
            "For the probability p of the second of two classes give np.column_stack([1 - p, p])."
        )
    strange = (p < 0).any(axis=1) | ~np.isclose(p.sum(axis=1), 1, atol=1e-3)
    if strange.any():
        row = p[int(np.argmax(strange))]
        raise InvalidInputError(
            "`predict_proba` must give rows of non-negative numbers that sum to 1, "
            f"got {row[:5].tolist()} from {kind}. Of a multi-label classifier take one label at a time."
        )
    return p


def _single(values: Any, estimator: Any) -> Any:
    """The values of a classifier with a single output; several come as a list of arrays."""
    if isinstance(values, list) and values and np.ndim(values[0]) == 2:
        raise InvalidTypeError(
            f"`estimator` must have one output, got {len(values)} from {type(estimator).__name__}. "
            "Give the classifier of one output, such as its estimators_[0]."
        )
    return from_torch(values)


def _is_one_vs_one(estimator: Any) -> bool:
    for inner in ("best_estimator_", "estimator_"):
        if hasattr(estimator, inner):
            return _is_one_vs_one(getattr(estimator, inner))
    if hasattr(estimator, "steps"):
        return _is_one_vs_one(estimator.steps[-1][1])
    return getattr(estimator, "decision_function_shape", "ovr") == "ovo"
