"""`SelectiveClassifier`: a scikit-learn classifier that knows when not to answer."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.collect.sklearn_model import SklearnModel
from abstain.extras import require
from abstain.outputs import Outputs
from abstain.scores.binary_logits import binary_logits
from abstain.scores.registry import SCORES
from abstain.selector import Selector, calibrate

require("sklearn", extra="sklearn", feature="abstain.sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import StratifiedKFold, train_test_split  # noqa: E402
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

    With ``cv`` folds no data is held out: each sample is scored by a classifier fitted on the other folds, and the
    final one on all. Its promise is then not proved but as good as the folds' classifiers are like the final one; the
    guarantee says so.
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
        cv: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.estimator = estimator
        self.confidence = confidence
        self.risk = risk
        self.coverage = coverage
        self.delta = delta
        self.held_out = held_out
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, then the selector on what it has not seen."""
        X, y = validate_data(self, X, y, accept_sparse=False)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("`y` must have at least 2 classes, got 1 class.")
        if self.cv is None:
            training, held = _held_out(labels, self.held_out, self.random_state)
            self.estimator_ = self._fitted(X[training], labels[training])
            outputs = self._outputs(self.estimator_, X[held], labels[held])
        else:
            outputs = self._out_of_fold(X, labels, self.cv)
            self.estimator_ = self._fitted(X, labels)
        selector = calibrate(
            outputs,
            score=self.confidence,
            risk=self.risk,
            coverage=self.coverage if self.risk is None else None,
            delta=None if self.risk is None and len(outputs) < SMALL else self.delta,
            seed=self.random_state,
        )
        self.selector_ = selector if self.cv is None else _without_guarantee(selector)
        return self

    def _fitted(self, X: Any, labels: NDArray[np.int64]) -> Any:
        return clone(LogisticRegression() if self.estimator is None else self.estimator).fit(X, labels)

    def _out_of_fold(self, X: Any, labels: NDArray[np.int64], folds: int) -> Outputs:
        """Outputs of each sample by a classifier that has not seen it."""
        if needed := {"features", "head"} & set(SCORES[self.confidence].needs):
            raise ValueError(
                f"`confidence` must be a score of the logits alone with `cv`, since each fold has a classifier of its "
                f"own, got {self.confidence}, which needs {' and '.join(sorted(needed))}. Use `held_out`."
            )
        smallest = int(np.bincount(labels).min())
        if not 2 <= folds <= smallest:
            raise ValueError(f"`cv` must be from 2 to the size of the smallest class ({smallest}), got {folds}.")
        logits = np.empty((len(labels), len(self.classes_)))
        for training, held in StratifiedKFold(folds, shuffle=True, random_state=self.random_state).split(X, labels):
            fitted = self._fitted(X[training], labels[training])
            logits[held] = self._outputs(fitted, X[held]).logits
        return Outputs(logits=logits, labels=labels)

    def predict(self, X: Any) -> NDArray[Any]:
        """The classifier's answer to every sample."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return np.asarray(self.classes_[self._outputs(self.estimator_, X).predictions])

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Which answers to trust."""
        check_is_fitted(self)
        return self.selector_.accepts(self._outputs(self.estimator_, validate_data(self, X, reset=False)))

    def confidence_scores(self, X: Any) -> NDArray[np.float64]:
        """The confidence behind the decision."""
        check_is_fitted(self)
        return self.selector_.confidence(self._outputs(self.estimator_, validate_data(self, X, reset=False)))

    def predict_selective(self, X: Any) -> NDArray[Any]:
        """The answers as objects, None where the selector abstains."""
        answers = self.predict(X).astype(object)
        answers[~self.accepts(X)] = None
        return answers

    @staticmethod
    def _outputs(estimator: Any, X: Any, labels: Any = None) -> Outputs:
        """What a fitted classifier says, with features and head where it has a linear last layer."""
        try:
            model = SklearnModel(estimator)
        except TypeError:
            return Outputs(logits=_logits(estimator, X), labels=labels)
        logits, features = model(list(X))
        weight, bias = model.head()
        return Outputs(logits=logits, features=features, weight=weight, bias=bias, labels=labels)


def _held_out(labels: NDArray[np.int64], share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows to train on and to calibrate on, none in both; a class too rare for both is trained on."""
    stratify = labels if np.bincount(labels).min() >= 4 else None
    training, held = train_test_split(np.arange(len(labels)), test_size=share, random_state=seed, stratify=stratify)
    unseen = ~np.isin(labels[held], labels[training])
    training, held = np.append(training, held[unseen]), held[~unseen]
    if not len(held):
        raise ValueError(f"`y` must have more samples of each class to hold some out, got {len(labels)} samples.")
    return training, held


def _without_guarantee(selector: Selector) -> Selector:
    words = (
        "no finite-sample guarantee, since it was calibrated on other folds' classifiers; if the final one does as "
        f"they do, {selector.threshold.guarantee}"
    )
    return replace(selector, threshold=replace(selector.threshold, guarantee=words))


def _logits(estimator: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(estimator, "predict_proba"):
        return np.log(np.maximum(estimator.predict_proba(X), 1e-300))
    if not hasattr(estimator, "decision_function"):
        raise TypeError(f"`estimator` must have decision_function or predict_proba, got {type(estimator).__name__}.")
    values = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return np.asarray(binary_logits(values)) if values.ndim == 1 else values
