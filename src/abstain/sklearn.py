"""`SelectiveClassifier`: a scikit-learn classifier that knows when not to answer."""

from dataclasses import replace
from math import ceil
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.collect.sklearn_model import SklearnModel
from abstain.extras import require
from abstain.outputs import Outputs
from abstain.scores.binary_logits import binary_logits
from abstain.scores.registry import SCORES
from abstain.selector import Selector, calibrate
from abstain.thresholds.binomial import samples_needed
from abstain.thresholds.threshold import NoSafeThresholdError

require("sklearn", extra="sklearn", feature="abstain.sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import StratifiedKFold, train_test_split  # noqa: E402
from sklearn.utils import (  # noqa: E402
    _safe_indexing,
    check_random_state,
    column_or_1d,
    get_tags,
    indexable,
)
from sklearn.utils.multiclass import check_classification_targets  # noqa: E402
from sklearn.utils.validation import check_is_fitted  # noqa: E402

SMALL = 30  # held-out samples below which a coverage is promised in expectation only


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier on one part of the data and calibrate a selector on the held-out rest.

    ``predict`` is the classifier's own and always answers; ``accepts`` says which answers to trust, and
    ``predict_selective`` gives None for the others. The target is a selective ``risk``, a ``coverage``, or both; the
    promise, in ``selector_.threshold.promise``, holds for samples drawn like X. X may be whatever the classifier
    takes. Linear models, linear SVMs with a row of weights a class, MLPs and pipelines that end in one give features
    and head to scores that need them; any other classifier gives its ``decision_function``, or else the logs of its
    probabilities. An answer that is not the class these favour, as with tuned thresholds, is never accepted. The score
    is named by ``confidence``, since ``score`` is a method of every scikit-learn classifier.

    With ``cv``, a number of folds or a splitter, no data is held out: each sample is scored by a classifier fitted on
    the other folds, and the final one on all. Its promise is then not proved but as good as the folds' classifiers are
    like the final one; the guarantee says so.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        confidence: str = "confidence_margin",
        risk: float | None = None,
        coverage: float | None = None,
        delta: float = 0.05,
        held_out: float = 0.3,
        cv: Any = None,
        random_state: Any = 0,
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
        X, y = indexable(X, y)
        if y is None:
            raise ValueError(
                "`y` must be given: SelectiveClassifier requires y to be passed, but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if self.confidence not in SCORES:
            raise ValueError(
                f"`confidence` must be a known score, got {self.confidence!r}. `abstain scores` lists them."
            )
        self.classes_, labels = np.unique(y, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**31))
        if len(self.classes_) < 2:
            self._fitted(X, y)  # the classifier's own objection, if it has one
            raise ValueError("`y` must have at least 2 classes, got 1 class.")
        if self.risk is None and self.coverage is None:
            raise ValueError("`risk` or `coverage` must be given, such as risk=0.02, got neither.")
        self._check_reach(len(labels))
        if self.cv is None:
            training, held = _held_out(labels, self.held_out, seed)
            self.estimator_ = self._fitted(_safe_indexing(X, training), y[training])
            outputs = self._outputs(self.estimator_, _safe_indexing(X, held), labels[held])
        else:
            outputs = self._out_of_fold(X, y, labels, seed)
            self.estimator_ = self._fitted(X, y)
        selector = calibrate(
            outputs,
            score=self.confidence,
            risk=self.risk,
            coverage=self.coverage,
            delta=None if self.risk is None and len(outputs) < SMALL else self.delta,
            seed=seed,
        )
        self.selector_ = selector if self.cv is None else _without_guarantee(selector)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The classifier's answer to every sample."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Which answers to trust."""
        check_is_fitted(self)
        return self.selector_.accepts(self._outputs(self.estimator_, X))

    def confidence_scores(self, X: Any) -> NDArray[np.float64]:
        """The confidence behind the decision; NaN where the answer is never accepted."""
        check_is_fitted(self)
        return self.selector_.confidence(self._outputs(self.estimator_, X))

    def predict_selective(self, X: Any) -> NDArray[Any]:
        """The answers as objects, None where the selector abstains."""
        answers = self.predict(X).astype(object)
        answers[~self.accepts(X)] = None
        return answers

    @property
    def n_features_in_(self) -> int:
        """Of the classifier."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Of the classifier."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.feature_names_in_)

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), get_tags(self._classifier())
        tags.input_tags, tags.classifier_tags = own.input_tags, own.classifier_tags
        return tags

    def _classifier(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _fitted(self, X: Any, y: NDArray[Any]) -> Any:
        return clone(self._classifier()).fit(X, y)

    def _out_of_fold(self, X: Any, y: NDArray[Any], labels: NDArray[np.int64], seed: int) -> Outputs:
        """Outputs of each sample by a classifier that has not seen it."""
        if needed := {"features", "head"} & set(SCORES[self.confidence].needs):
            raise ValueError(
                "`confidence` must be a score of the logits alone with `cv`, since each fold has a classifier of its "
                f"own, got {self.confidence}, which needs {' and '.join(sorted(needed))}. Use `held_out`."
            )
        logits = np.full((len(labels), len(self.classes_)), np.nan)
        times = np.zeros(len(labels), dtype=np.int64)
        for training, held in self._folds(labels, seed).split(X, y):
            if len(np.unique(labels[training])) < len(self.classes_):
                raise ValueError("`cv` must leave samples of every class to train on in each fold, got a fold without.")
            fitted = self._fitted(_safe_indexing(X, training), y[training])
            logits[held] = self._outputs(fitted, _safe_indexing(X, held)).logits
            times[held] += 1
        if (times != 1).any():
            raise ValueError("`cv` must hold out every sample once, got a splitter that does not.")
        return Outputs(logits=logits, labels=labels, nonfinite="reject")

    def _check_reach(self, n: int) -> None:
        """Before anything is trained: enough rows to certify the risk even if none of them were wrong."""
        if self.risk is None or not 0 < self.risk < 1 or not 0 < self.delta < 1:
            return
        share = ceil(self.held_out * n) if self.held_out < 1 else int(self.held_out)
        held = share if self.cv is None else n
        needed = samples_needed(self.risk, self.delta)
        if held < needed:
            rows = f"{held} of {n} rows" if self.cv is None else f"{n} rows"
            more = f", hold out more with `held_out=` ({self.held_out} now), or use all rows with `cv=5`"
            raise NoSafeThresholdError(
                f"`risk` must be in reach: {self.risk:g} with delta={self.delta:g} needs at least {needed} rows to "
                f"calibrate on even if none is wrong, got {rows}. Give more rows, or raise `risk`"
                f"{more if self.cv is None and n >= needed else ''}; `abstain plan` tells what is needed."
            )

    def _folds(self, labels: NDArray[np.int64], seed: int) -> Any:
        if hasattr(self.cv, "split"):
            return self.cv
        smallest = int(np.bincount(labels).min())
        if not isinstance(self.cv, int | np.integer) or not 2 <= self.cv <= smallest:
            raise ValueError(
                f"`cv` must be a splitter or from 2 to the size of the smallest class ({smallest}), got {self.cv}."
            )
        return StratifiedKFold(int(self.cv), shuffle=True, random_state=seed)

    def _outputs(self, estimator: Any, X: Any, labels: Any = None) -> Outputs:
        """What a fitted classifier says, with features and head where it has a linear last layer.

        Rows whose answer is not the largest logit are made unusable, so that they are never accepted.
        """
        features, weight, bias = None, None, None
        try:
            model = SklearnModel(estimator)
        except TypeError:
            logits = _logits(estimator, X)
        else:
            needed = {"features", "head"} & set(SCORES[self.confidence].needs)
            logits, features = model.on(X, with_features=bool(needed))
            weight, bias = model.head() if needed else (None, None)
        answers = np.searchsorted(self.classes_, estimator.predict(X))
        logits = np.where((logits.argmax(axis=1) == answers)[:, None], logits, np.nan)
        return Outputs(logits=logits, features=features, weight=weight, bias=bias, labels=labels, nonfinite="reject")


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
    reason = "since it was calibrated on other folds' classifiers, and the final one may do otherwise"
    promise = selector.threshold.promise.unproved(reason)
    return replace(selector, threshold=replace(selector.threshold, promise=promise))


def _logits(estimator: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(estimator, "decision_function"):
        values = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if len(estimator.classes_) > 2 and _is_one_vs_one(estimator):
            raise ValueError("`estimator` must have a decision value a class, got one-vs-one. Set it to 'ovr'.")
        return np.asarray(binary_logits(values)) if values.ndim == 1 else values
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(f"`estimator` must have decision_function or predict_proba, got {type(estimator).__name__}.")
    return np.log(np.maximum(estimator.predict_proba(X), 1e-300))


def _is_one_vs_one(estimator: Any) -> bool:
    for inner in ("best_estimator_", "estimator_"):
        if hasattr(estimator, inner):
            return _is_one_vs_one(getattr(estimator, inner))
    if hasattr(estimator, "steps"):
        return _is_one_vs_one(estimator.steps[-1][1])
    return getattr(estimator, "decision_function_shape", "ovr") == "ovo"
