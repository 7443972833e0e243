"""scikit-learn classifiers: linear models, linear SVMs, multilayer perceptrons, and pipelines that end in one."""

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.collect.fingerprint import digest
from abstain.collect.model import Batch, Model


@final
class SklearnModel(Model):
    """A fitted classifier with a linear last layer: ``coef_`` (linear models, SVMs) or ``coefs_`` (MLPClassifier)."""

    def __init__(self, estimator: Any) -> None:
        steps = getattr(estimator, "steps", None)
        self.before = estimator[:-1] if steps and len(steps) > 1 else None
        self.last = steps[-1][1] if steps else estimator
        self.weight, self.bias = _head(self.last)
        self.class_names = tuple(str(name) for name in self.last.classes_)
        self.name = f"{type(self.last).__name__}-{digest(_learned(estimator))}"

    def __call__(self, inputs: Sequence[Any], /) -> Batch:
        """Features of the last layer, and its logits."""
        return self.on(_stacked(inputs))

    def on(self, x: Any, /, *, with_features: bool = True) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Logits and features of whatever the classifier takes; sparse rows are made dense for the features alone."""
        if self.before is not None:
            x = self.before.transform(x)
        features = _hidden(self.last, x if hasattr(x, "toarray") else np.asarray(x))
        logits = np.asarray(features @ self.weight.T + self.bias)
        if not with_features:
            return logits, None
        return logits, features.toarray() if hasattr(features, "toarray") else features

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight (K, d) and bias (K,)."""
        return self.weight, self.bias


def _learned(estimator: Any) -> Any:
    """All that an estimator and the steps before it have learned, and their settings."""
    if isinstance(estimator, list | tuple):
        return [_learned(item) for item in estimator]
    if isinstance(estimator, dict):
        return {str(name): _learned(item) for name, item in estimator.items()}
    if hasattr(estimator, "get_params") and hasattr(estimator, "__dict__"):
        return {"kind": type(estimator).__name__} | {name: _learned(item) for name, item in vars(estimator).items()}
    return estimator


def _head(estimator: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Weight and bias; a binary classifier's single row s becomes −s/2 and s/2, whose gap is s."""
    if hasattr(estimator, "coefs_"):
        weight, bias = estimator.coefs_[-1].T, estimator.intercepts_[-1]
    elif hasattr(estimator, "coef_") and hasattr(estimator, "classes_"):
        coef = estimator.coef_.toarray() if hasattr(estimator.coef_, "toarray") else estimator.coef_
        weight, bias = np.atleast_2d(coef), np.atleast_1d(estimator.intercept_)
    else:
        raise TypeError(
            f"`estimator` must be a fitted linear classifier or MLPClassifier, or a pipeline that ends in one, "
            f"got {type(estimator).__name__}."
        )
    k = len(estimator.classes_)
    if k > 2 and (len(weight) != k or hasattr(estimator, "support_")):  # SVC's rows are pairs, for 3 classes 3 of them
        raise TypeError(f"`estimator` must have a row of weights a class, got {len(weight)} rows of pairs of classes.")
    if len(weight) == 1:
        weight, bias = np.vstack([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
    return np.ascontiguousarray(weight, dtype=np.float64), np.broadcast_to(bias, len(weight)).astype(np.float64)


def _hidden(estimator: Any, x: Any) -> Any:
    if not hasattr(estimator, "coefs_"):
        return x.astype(np.float64)
    activations: dict[str, Callable[[Any], Any]] = {
        "relu": lambda v: np.maximum(v, 0),
        "tanh": np.tanh,
        "logistic": lambda v: 1 / (1 + np.exp(-v)),
        "identity": lambda v: v,
    }
    activate = activations[estimator.activation]
    for weight, bias in zip(estimator.coefs_[:-1], estimator.intercepts_[:-1], strict=True):
        x = activate(x @ weight + bias)
    return x


def _stacked(inputs: Sequence[Any]) -> Any:
    return list(inputs) if isinstance(inputs[0], str) else np.stack([np.asarray(value) for value in inputs])
