"""`SelectiveClassifier`: a scikit-learn classifier that knows when not to answer."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing, check_random_state, column_or_1d, get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.registry import AnyScore
from abstain.selector import Selector, calibrate
from abstain.sklearn.answers import wrong_answers
from abstain.sklearn.arguments import (
    REJECT_ALL,
    check_classifier,
    check_delta,
    check_held_out,
    check_numbers,
    check_reach,
    check_reject_label,
    folds,
)
from abstain.sklearn.caveats import with_caveats
from abstain.sklearn.delegation import has
from abstain.sklearn.estimator_outputs import class_numbers, is_choice, needs, outputs_of
from abstain.sklearn.parameter_and_method import ParameterAndMethod, parameter_of
from abstain.sklearn.training import fitted, split_rows
from abstain.thresholds.threshold import NoSafeThresholdError

SMALL = 30  # held-out samples below which a coverage is promised in expectation only


class SelectiveClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a classifier on one part of the data and calibrate a selector on the held-out rest.

    ``predict``, ``predict_proba`` and ``decision_function`` are the classifier's own and always answer; ``accepts``
    says which answers to trust, and ``answers`` gives None for the others. With a ``reject_label``, such as -1 or
    "unknown", ``predict`` gives that where it abstains, at the end of a pipeline too, and ``predict_all`` still
    answers everything. ``score(X, y)`` is the share of samples answered rightly: abstaining is no right answer.

    The target is a selective ``risk``, a ``coverage``, both, or the ``cost`` of rejecting; ``costs``, ``per="class"``,
    ``group_risk``, ``jointly``, ``method``, ``label_above`` and ``score``, a name, several, or "best", are as
    `abstain.calibrate` takes them. Where costs decide what to predict, ``predict`` does as they say. The guarantee, in
    ``selector_.threshold.promise``, holds for samples drawn like X. Where nothing can be certified for a risk, nothing
    is accepted, with a warning, so that searches go on; ``when_impossible="raise"`` makes it an error, and
    "reject_all" leaves the warning out. Rows are held out at random, whatever their classes: a class that only they
    have is one the classifier does not know, an error where it is answered, and not in ``classes_``.

    X may be whatever the classifier takes, and that may be a pipeline. Linear models, linear SVMs with weights for each
    class, MLPs and pipelines that end in one give features and head to scores that need them; any other classifier
    gives its ``decision_function``, or else the logs of its probabilities. An answer that is not the class these
    favour, as with tuned thresholds, is never accepted. By default the score is confidence_margin; ``get_params`` reads
    the parameter ``score``, since the attribute is the method.

    With ``cv``, a number of folds or a splitter, no data is held out: each sample is scored by a classifier fitted on
    the other folds, and the final one on all. Its promise is then not proved but as good as the folds' classifiers are
    like the final one; the guarantee says so. With ``cv="prefit"``, or a ``FrozenEstimator``, which unlike the former
    survives `clone`, the classifier is taken as it is, all samples calibrate, and those of a class it does not know
    count as errors.

    ``sample_weight`` teaches the classifier alone. The promise is about rows as they come, each counting once: weights
    that balance classes or trust say nothing about the rows to come. For weights that do, `thresholds.weighted_risk`.
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        score: AnyScore | Sequence[AnyScore] | None = None,
        risk: float | None = None,
        coverage: float | None = None,
        cost: float | ArrayLike | None = None,
        costs: ArrayLike | None = None,
        per: Literal["class"] | None = None,
        group_risk: float | None = None,
        jointly: bool = True,
        delta: float | None = 0.05,
        method: str | None = None,
        label_above: float | None = None,
        when_impossible: Literal["warn", "raise", "reject_all"] = "warn",
        reject_label: Any = None,
        held_out: float = 0.3,
        cv: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.risk = risk
        self.coverage = coverage
        self.cost = cost
        self.costs = costs
        self.per = per
        self.group_risk = group_risk
        self.jointly = jointly
        self.delta = delta
        self.method = method
        self.label_above = label_above
        self.when_impossible = when_impossible
        self.reject_label = reject_label
        self.held_out = held_out
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier, then the selector on what it has not seen."""
        self._check_arguments()
        X, y = indexable(X, y)
        if y is None:
            raise ValueError(
                "`y` must be given: SelectiveClassifier requires y to be passed, but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        if sample_weight is not None:
            if self._is_prefit:
                raise ValueError("`sample_weight` must be left out, since the classifier is fitted already, got some.")
            sample_weight = _check_sample_weight(sample_weight, y)
        seed = int(check_random_state(self.random_state).randint(2**31))
        selector = self._calibrated(self._calibration(X, y, sample_weight, seed), seed)
        how = "prefit" if self._is_prefit else "folds" if self.cv is not None else "held out"
        check_reject_label(self.reject_label, self.classes_)
        self.selector_ = with_caveats(selector, how, weighted=sample_weight is not None)
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
        cheapest = self.selector_.predictions(self._outputs(self.estimator_, X))
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
        return self.selector_.accepts(self._outputs(self.estimator_, X))

    def confidence_scores(self, X: Any) -> NDArray[np.float64]:
        """The confidence behind the decision; NaN where the answer is never accepted."""
        check_is_fitted(self)
        return self.selector_.confidence(self._outputs(self.estimator_, X))

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

    def _check_arguments(self) -> None:
        check_classifier(self._classifier())
        check_numbers(risk=self.risk, coverage=self.coverage)
        check_delta(self.delta)
        needs(self._score)
        check_name("when_impossible", self.when_impossible, ("warn", "raise", "reject_all"))
        if self.when_impossible == "reject_all" and self.coverage is not None:
            raise ValueError("`when_impossible` must be raise with a `coverage`, which rejecting all does not keep.")
        if self.per not in (None, "class"):
            raise ValueError(f"`per` must be 'class', since samples have no other groups here, got {self.per!r}.")
        if self.risk is None and self.coverage is None and self.cost is None:
            raise ValueError("`risk`, `coverage` or `cost` must be given, such as risk=0.02, got none.")

    def _calibration(self, X: Any, y: NDArray[Any], sample_weight: Any, seed: int) -> Outputs:
        """Outputs to calibrate on; the classifier is fitted on the way."""
        if self._is_prefit:
            return self._prefit(X, y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        weights = {"sample_weight": sample_weight}
        if len(self.classes_) < 2:
            fitted(self._classifier(), X, y, **weights)  # the classifier's own objection, if it has one
            raise ValueError("`y` must have at least 2 classes, got 1 class.")
        if self.cv is not None:
            self._check_reach(len(y), held_out=None)
            outputs = self._out_of_fold(X, y, labels, seed, sample_weight)
            self.estimator_ = fitted(self._classifier(), X, y, **weights)
            return outputs
        check_held_out(self.held_out, len(y))
        self._check_reach(len(y), held_out=self.held_out)
        training, held = split_rows(X, labels, self.held_out, seed)
        self.estimator_ = fitted(self._classifier(), X, y, training, **weights)
        self.classes_ = np.unique(y[training])
        return self._outputs(self.estimator_, _safe_indexing(X, held), class_numbers(y[held], self.classes_))

    def _prefit(self, X: Any, y: NDArray[Any]) -> Outputs:
        """Of all rows, by the classifier as it is."""
        kind = type(self.estimator).__name__
        classes = getattr(self.estimator, "classes_", None)
        if classes is None:
            raise NotFittedError(f"`estimator` must be fitted, with classes_, for cv='prefit', got {kind} without.")
        self.estimator_, self.classes_ = self.estimator, np.asarray(classes)
        labels = class_numbers(y, self.classes_)
        if (labels < 0).all():
            raise ValueError(f"`y` must hold classes of the estimator, got {y[0]!r} and none that is one.")
        self._check_reach(len(y), held_out=None)
        return self._outputs(self.estimator_, X, labels)

    def _out_of_fold(
        self, X: Any, y: NDArray[Any], labels: NDArray[np.int64], seed: int, sample_weight: Any = None
    ) -> Outputs:
        """Outputs of each sample by a classifier that has not seen it."""
        needed = needs(self._score) & {"features", "head"}
        if needed and not is_choice(self._score):
            raise ValueError(
                "`score` must be one of the logits alone with `cv`, since each fold has a classifier of its own, got "
                f"{self._score}, which needs {' and '.join(sorted(needed))}. Use `held_out`."
            )
        logits = np.full((len(labels), len(self.classes_)), np.nan)
        times = np.zeros(len(labels), dtype=np.int64)
        for training, held in folds(self.cv, int(np.bincount(labels).min()), seed).split(X, y):
            if len(np.unique(labels[training])) < len(self.classes_):
                raise ValueError("`cv` must leave samples of every class to train on in each fold, got a fold without.")
            one = fitted(self._classifier(), X, y, training, sample_weight=sample_weight)
            logits[held] = self._outputs(one, _safe_indexing(X, held)).logits
            times[held] += 1
        if (times != 1).any():
            raise ValueError("`cv` must hold out every sample once, got a splitter that does not.")
        return Outputs(logits=logits, labels=labels, nonfinite="reject")

    def _check_reach(self, n: int, held_out: float | None) -> None:
        if self.when_impossible == "raise":
            check_reach(self.risk, self.delta, n, held_out=held_out, splits=held_out is not None)

    def _outputs(self, estimator: Any, X: Any, labels: NDArray[np.int64] | None = None) -> Outputs:
        return outputs_of(estimator, X, classes=self.classes_, score=self._score, labels=labels)

    def _calibrated(self, outputs: Outputs, seed: int) -> Selector:
        asks_coverage_alone = self.risk is None and self.coverage is not None
        calibrated = partial(
            calibrate,
            outputs,
            score=self._score,
            risk=self.risk,
            coverage=self.coverage,
            cost=self.cost,
            costs=self.costs,
            per=self.per,
            group_risk=self.group_risk,
            jointly=self.jointly,
            delta=None if asks_coverage_alone and len(outputs) < SMALL else self.delta,
            method=self.method,
            label_above=self.label_above,
            seed=seed,
        )
        try:
            return calibrated()
        except NoSafeThresholdError as refusal:
            if self.when_impossible == "raise" or self.coverage is not None:
                raise refusal if self.coverage is not None else refusal.with_advice(REJECT_ALL) from None
            if self.when_impossible == "warn":
                warn(f"Nothing is accepted. {refusal}", UserWarning, stacklevel=3)
            return calibrated(when_impossible="reject_all")
