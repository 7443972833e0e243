"""`SelectiveClassifier`: a scikit-learn classifier that knows when not to answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.selector import Coverage, Selector, Target, calibrate
from abstain.selector.choice import Scores
from abstain.selector.targets import target_of
from abstain.sklearn.arguments import (
    REJECT_ALL,
    check_classifier,
    check_held_out,
    check_reach,
    check_reject_label,
    checked_rows,
    seed_of,
)
from abstain.sklearn.attributes import ParameterAndMethod, has, parameter_of
from abstain.sklearn.calibration import Calibration, Training
from abstain.sklearn.estimator_outputs import needs, outputs_of, wrong_answers
from abstain.thresholds import NoSafeThresholdError

Ids = NDArray[Any] | None
SMALL = 30  # held-out samples below which a coverage is guaranteed in expectation only


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier on one part of the data and calibrate a selector on the held-out rest.

    ``predict``, ``predict_proba`` and ``decision_function`` are the classifier's own and always answer; ``accepts``
    returns which answers to trust. The guarantee, in ``selector_.threshold.guarantee``, is about samples drawn like X,
    each counting once.

    Parameters
    ----------
    estimator : classifier, optional
        A classifier or a pipeline, by default logistic regression. Linear models, MLPs and pipelines that end in one
        give features and head to scores that need them; others give ``decision_function`` or logs of probabilities.
    target : Target, optional
        `abstain.Risk`, `abstain.Coverage`, `abstain.Cost` and so on, with all options; groups only ``per="class"``.
    score : str, score or list of these, optional
        As of `abstain.calibrate`. The attribute is the method, so ``get_params`` reads this parameter.
    risk, coverage, delta : float, optional
        The short form of the target.
    cost : float or array_like, optional
        The same, of rejecting a row.
    when_impossible : {"warn", "raise", "reject_all"}
        Where nothing can be certified for a risk: accept nothing and ``"warn"``, ``"raise"`` an error, or accept
        nothing without a warning (``"reject_all"``).
    reject_label : int or str
        What ``predict`` gives where it abstains, such as -1 or "unknown"; None for the classifier's own answer.
    held_out : float
        The share, or number, of rows to calibrate on, drawn at random whatever their classes. A class that only they
        have is unknown to the classifier: every answer to it is an error.
    cv : int or splitter, optional
        Folds or a splitter: each row is scored by a classifier fitted on the others, and the final one on all rows; the
        guarantee is then not proved, and is marked so. ``"prefit"``, or a ``FrozenEstimator``, keeps the classifier.
    random_state : int, RandomState or None
        Of the draws.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> selective = SelectiveClassifier(GaussianNB(), risk=0.1, delta=0.1).fit(*load_iris(return_X_y=True))
    >>> selective.selector_.threshold.guarantee.target
    0.1
    """

    def __init__(
        self,
        estimator: Any = None,
        target: Target | None = None,
        *,
        score: Scores | None = None,
        risk: float | None = None,
        coverage: float | None = None,
        cost: float | ArrayLike | None = None,
        delta: float | None = 0.05,
        when_impossible: Literal["warn", "raise", "reject_all"] = "warn",
        reject_label: Any = None,
        held_out: float = 0.3,
        cv: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.score = score
        self.risk = risk
        self.coverage = coverage
        self.cost = cost
        self.delta = delta
        self.when_impossible = when_impossible
        self.reject_label = reject_label
        self.held_out = held_out
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier, then the selector on rows it has not seen; the weights are the classifier's alone.

        ``groups`` (n,) name the cluster of each row, such as a patient, as for scikit-learn's splitters: all rows of a
        cluster are held out or none, and they are the ``ids`` of `abstain.calibrate`, clusters of the guarantee.
        """
        target = self._checked_target()
        X, y, ids = checked_rows(X, y, groups)
        if sample_weight is not None:
            if self._is_prefit:
                raise InvalidInputError(
                    "`sample_weight` must be left out, since the classifier is fitted already, got some."
                )
            sample_weight = _check_sample_weight(sample_weight, y)
        seed = seed_of(self.random_state)
        calibration = self._calibration(X, y, sample_weight, target, seed, ids)
        self.estimator_, self.classes_ = calibration.estimator, calibration.classes
        selector = self._calibrated(calibration.outputs, target, seed)
        check_reject_label(self.reject_label, self.classes_)
        self.selector_ = calibration.noted(selector, weighted=sample_weight is not None)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer to every sample, or the ``reject_label`` where there is one and the selector abstains."""
        answers = self.predict_all(X)
        return answers if self.reject_label is None else np.where(self.accepts(X), answers, self.reject_label)

    @ParameterAndMethod
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples that are answered, and rightly."""
        right = ~wrong_answers(y, self.predict_all(X)) & self.accepts(X)
        return float(np.average(right, weights=sample_weight))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name, ``score`` among them."""
        return super().get_params(deep) | {"score": self._score}

    def predict_all(self, X: Any) -> NDArray[Any]:
        """The classifier's answer to every sample, accepted or not, or the cheapest where costs are known."""
        check_is_fitted(self)
        answers = np.asarray(self.estimator_.predict(X))
        if not self.selector_.fitted.changes_predictions:
            return answers
        cheapest = self.selector_.predictions(self._outputs(X))
        return np.where(cheapest < 0, answers, self.classes_[cheapest])

    @available_if(has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The classifier's probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """The classifier's decision values."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Which answers to trust."""
        check_is_fitted(self)
        return self.selector_.accepts(self._outputs(X))

    def confidence_scores(self, X: Any) -> NDArray[np.float64]:
        """The confidence behind the decision; NaN where the answer is never accepted."""
        check_is_fitted(self)
        return self.selector_.confidence(self._outputs(X))

    def answers(self, X: Any) -> NDArray[Any]:
        """The answers as objects, None where the selector abstains."""
        answers = self.predict_all(X).astype(object)
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
        tags = super().__sklearn_tags__()
        if hasattr(self._classifier(), "__sklearn_tags__"):
            own = get_tags(self._classifier())
            tags.input_tags, tags.classifier_tags = own.input_tags, own.classifier_tags
            if tags.classifier_tags is not None:  # one answer for each row, whatever the classifier could give
                tags.classifier_tags.multi_label = False
        return tags

    @property
    def _score(self) -> Any:
        return parameter_of(self, "score")

    def _classifier(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    @property
    def _is_prefit(self) -> bool:
        frozen = isinstance(self.estimator, FrozenEstimator) and self.cv is None
        return frozen or (isinstance(self.cv, str) and self.cv == "prefit")

    def _checked_target(self) -> Target:
        """The target, where the arguments can be."""
        check_classifier(self._classifier())
        needs(self._score)
        check_name("when_impossible", self.when_impossible, ("warn", "raise", "reject_all"))
        short = {"risk": self.risk, "coverage": self.coverage, "cost": self.cost}
        target = target_of(delta=self.delta, **short) if self.target is None else target_of(self.target, **short)
        if self.when_impossible == "reject_all" and getattr(target, "coverage", None) is not None:
            raise InvalidInputError(
                "`when_impossible` must be raise with a `coverage`, which rejecting all does not keep, got reject_all."
            )
        if getattr(target, "per", None) not in (None, "class"):
            raise InvalidInputError(f"`per` must be 'class', since samples have no other groups here, got {target}.")
        return target

    def _calibration(self, X: Any, y: NDArray[Any], weight: Any, target: Target, seed: int, ids: Ids) -> Calibration:
        """The classifier, fitted, and the outputs to calibrate on."""
        training = Training(self._classifier(), X, y, weight, self._score, seed, ids)
        holds_out = self.cv is None and not self._is_prefit
        if holds_out:
            check_held_out(self.held_out, len(y))
        if self.when_impossible == "raise":
            held_out = self.held_out if holds_out else None
            check_reach(getattr(target, "risk", None), target.delta, len(y), held_out=held_out)
        if self._is_prefit:
            return training.prefit()
        return training.held_out(self.held_out) if holds_out else training.out_of_fold(self.cv)

    def _outputs(self, X: Any) -> Outputs:
        return outputs_of(self.estimator_, X, classes=self.classes_, score=self._score)

    def _calibrated(self, outputs: Outputs, target: Target, seed: int) -> Selector:
        if self.target is None and isinstance(target, Coverage) and len(outputs) < SMALL:
            target = replace(target, delta=None)
        can_reject = hasattr(target, "when_impossible")
        try:
            return calibrate(outputs, target, score=self._score, seed=seed)
        except NoSafeThresholdError as refusal:
            if self.when_impossible == "raise" or not can_reject:
                raise refusal.with_advice(REJECT_ALL) if can_reject else refusal from None
            if self.when_impossible == "warn":
                warn(f"Nothing is accepted. {refusal}", UserWarning, stacklevel=3)
            rejecting: Any = replace(target, when_impossible="reject_all")  # type: ignore[call-arg]
            return calibrate(outputs, rejecting, score=self._score, seed=seed)
