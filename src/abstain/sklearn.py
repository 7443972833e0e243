"""`SelectiveClassifier`: a scikit-learn classifier that knows when not to answer."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.collect.sklearn_model import SklearnModel
from abstain.extras import require
from abstain.outputs import Outputs
from abstain.scores.binary_logits import binary_logits
from abstain.selector import calibrate

require("sklearn", extra="sklearn", feature="abstain.sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402

SMALL = 30  # held-out samples below which a coverage is promised in expectation only


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier on one part of the data and calibrate a selector on the held-out rest.

    ``predict`` is the classifier's own and always answers; ``accepts`` says which answers to trust, and
    ``predict_selective`` gives None for the others. The target is a selective ``risk``, or else a ``coverage``; the
    guarantee, in ``selector_.threshold.guarantee``, holds for samples drawn like X. Linear models, SVMs, MLPs and
    pipelines that end in one give features and head to scores that need them; any other classifier gives its
    ``decision_function`` or the logs of its probabilities. The score is named by ``confidence``, since ``score`` is a
    method of every scikit-learn classifier.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        confidence: str = "confidence_margin",
        risk: float | None = None,
        coverage: float = 0.6,
        delta: float = 0.05,
        held_out: float = 0.3,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.risk = risk
        self.coverage = coverage
        self.delta = delta
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, then the selector on what it has not seen."""
        X, y = validate_data(self, X, y, accept_sparse=False)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("`y` must have at least 2 classes, got 1 class.")
        counts = np.bincount(labels)
        X_fit, X_held, y_fit, y_held = train_test_split(
            X,
            labels,
            test_size=self.held_out,
            random_state=self.random_state,
            stratify=labels if counts.min() >= 4 else None,
        )
        if len(np.unique(y_fit)) < len(self.classes_):  # a class too rare to split
            X_fit, y_fit = X, labels
        self.estimator_ = clone(LogisticRegression() if self.estimator is None else self.estimator).fit(X_fit, y_fit)
        self.selector_ = calibrate(
            self._outputs(X_held, y_held),
            score=self.confidence,
            risk=self.risk,
            coverage=self.coverage if self.risk is None else None,
            delta=None if self.risk is None and len(y_held) < SMALL else self.delta,
            seed=self.random_state,
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The classifier's answer to every sample."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.asarray(self.classes_[self._outputs(X).predictions])

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Which answers to trust."""
        check_is_fitted(self)
        return self.selector_.accepts(self._outputs(validate_data(self, X, reset=False)))

    def confidence_scores(self, X: Any) -> NDArray[np.float64]:
        """The confidence behind the decision."""
        check_is_fitted(self)
        return self.selector_.confidence(self._outputs(validate_data(self, X, reset=False)))

    def predict_selective(self, X: Any) -> NDArray[Any]:
        """The answers as objects, None where the selector abstains."""
        answers = self.predict(X).astype(object)
        answers[~self.accepts(X)] = None
        return answers

    def _outputs(self, X: Any, labels: Any = None) -> Outputs:
        """What the fitted classifier says, with features and head where it has a linear last layer."""
        try:
            model = SklearnModel(self.estimator_)
        except TypeError:
            return Outputs(logits=_logits(self.estimator_, X), labels=labels)
        logits, features = model(list(X))
        weight, bias = model.head()
        return Outputs(logits=logits, features=features, weight=weight, bias=bias, labels=labels)


def _logits(estimator: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(estimator, "predict_proba"):
        return np.log(np.maximum(estimator.predict_proba(X), 1e-300))
    if not hasattr(estimator, "decision_function"):
        raise TypeError(f"`estimator` must have decision_function or predict_proba, got {type(estimator).__name__}.")
    values = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.asarray(binary_logits(values)) if values.ndim == 1 else values
