"""The linear last layer of a scikit-learn classifier, and what comes before it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

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
        """That of a fitted classifier, or None where it has none, as an SVC, whose rows are pairs of classes."""
        steps = getattr(estimator, "steps", None)
        last = steps[-1][1] if steps else estimator
        found = _weights(last)
        if found is None:
            return None
        weight, bias = found
        k = len(last.classes_)
        if k > 2 and (len(weight) != k or hasattr(last, "support_")):  # for 3 classes there are 3 pairs
            return None
        if len(weight) == 1:  # a binary classifier's single row s becomes −s/2 and s/2, whose gap is s
            weight, bias = np.vstack([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
        before = estimator[:-1] if steps and len(steps) > 1 else None
        weight = np.ascontiguousarray(weight, dtype=np.float64)
        return cls(before, last, weight, np.broadcast_to(bias, len(weight)).astype(np.float64))

    def on(self, x: Any, /, *, with_features: bool) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Logits, and features if asked."""
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
