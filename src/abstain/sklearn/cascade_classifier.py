"""`CascadeClassifier`: several scikit-learn classifiers in turn, under one guarantee."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted

from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.registry import AnyScore
from abstain.selector import Target, cascade
from abstain.sklearn.arguments import check_classifier, check_held_out, check_reject_label, checked_rows, seed_of
from abstain.sklearn.calibration import fitted, split_rows
from abstain.sklearn.estimator_outputs import class_numbers, outputs_of, wrong_answers

LEAST = 2  # classifiers


class CascadeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fit several classifiers on one part of the data and calibrate their cascade on the held-out rest.

    A sample is answered by the first classifier that is confident enough; each is run only on the samples that those
    before it leave. The guarantee, in ``cascade_.selector.threshold.guarantee``, is about the answers of all of them
    together.

    Parameters
    ----------
    estimators : list of classifiers
        Classifiers or pipelines, cheapest first. If all are ``FrozenEstimator``, they are kept and all rows calibrate.
    target : Target, optional
        `abstain.Risk` with all options, instead of ``risk``.
    costs : list of float
        Of running each classifier on a sample.
    human_cost : float, optional
        Of a person who answers; by default ten times as much as all classifiers.
    risk, stage_risk : float, optional
        As of `abstain.cascade`.
    delta : float
        As of `abstain.cascade`.
    scores : list of str or score, optional
        As of `abstain.cascade`.
    reject_label : int or str
        What ``predict`` gives where no classifier is confident enough; None for the answer of the last one asked.
    held_out : float
        The share, or number, of rows to calibrate on.
    random_state : int, RandomState or None
        Of the draws.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> models = [GaussianNB(), LogisticRegression(max_iter=3000)]
    >>> selective = CascadeClassifier(models, risk=0.1, costs=[1, 20]).fit(*load_digits(return_X_y=True))
    >>> selective.cascade_.names
    ('GaussianNB', 'LogisticRegression')
    """

    def __init__(
        self,
        estimators: Sequence[Any],
        target: Target | None = None,
        *,
        costs: Sequence[float],
        human_cost: float | None = None,
        risk: float | None = None,
        stage_risk: float | None = None,
        delta: float = 0.05,
        scores: Sequence[AnyScore | None] | None = None,
        reject_label: Any = None,
        held_out: float = 0.3,
        random_state: Any = 0,
    ) -> None:
        self.estimators = estimators
        self.target = target
        self.costs = costs
        self.human_cost = human_cost
        self.risk = risk
        self.stage_risk = stage_risk
        self.delta = delta
        self.scores = scores
        self.reject_label = reject_label
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fit the classifiers, then the cascade on rows they have not seen; ``groups`` (n,) name clusters of rows."""
        self._check_estimators()
        X, y, ids = checked_rows(X, y, groups)
        seed = seed_of(self.random_state)
        held = self._fit_estimators(X, y, seed, ids)
        check_reject_label(self.reject_label, self.classes_)
        labels = class_numbers(y[held], self.classes_)
        ids = None if ids is None else ids[held]
        rows = _safe_indexing(X, held)
        self.cascade_ = cascade(
            [self._outputs(stage, rows, labels=labels, ids=ids) for stage in range(len(self.estimators_))],
            self.target,
            costs=self.costs,
            human_cost=self.human_cost,
            risk=self.risk,
            stage_risk=self.stage_risk,
            delta=self.delta,
            scores=self.scores,
            names=_names(self.estimators),
            seed=seed,
        )
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer of the classifier that each sample goes to, or the ``reject_label`` where it is not accepted."""
        combined = self._combined(X)
        numbers = combined.predictions
        answers = self.classes_[np.maximum(numbers, 0)]
        if self.reject_label is None:
            return np.asarray(answers)
        return np.where(self.cascade_.selector.accepts(combined), answers, self.reject_label)

    def accepts(self, X: Any) -> NDArray[np.bool_]:
        """Which samples a classifier answers; the others go to a person."""
        return self.cascade_.selector.accepts(self._combined(X))

    def stages(self, X: Any) -> NDArray[np.int64]:
        """The number of the last classifier that is run on each sample, from 0."""
        return self.cascade_.numbers_of(self._combined(X))

    def row_costs(self, X: Any) -> NDArray[np.float64]:
        """What each sample costs: the classifiers that are run on it, and a person where none of them answers."""
        return self.cascade_.costs_of(self._combined(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of samples that are answered, and rightly."""
        combined = self._combined(X)
        answers = self.classes_[np.maximum(combined.predictions, 0)]
        right = ~wrong_answers(y, answers) & self.cascade_.selector.accepts(combined)
        return float(np.average(right, weights=sample_weight))

    def _check_estimators(self) -> None:
        if not isinstance(self.estimators, Sequence) or len(self.estimators) < LEAST:
            raise InvalidInputError(f"`estimators` must be at least {LEAST} classifiers, got {self.estimators!r:.60}.")
        for estimator in self.estimators:
            check_classifier(estimator)

    def _fit_estimators(self, X: Any, y: NDArray[Any], seed: int, ids: NDArray[Any] | None) -> NDArray[np.int64]:
        """Fit those that are not frozen; the rows to calibrate on, which are all if none was fitted."""
        if all(isinstance(estimator, FrozenEstimator) for estimator in self.estimators):
            self.estimators_ = list(self.estimators)
            held = np.arange(len(y))
        else:
            check_held_out(self.held_out, len(y))
            labels = np.unique(y, return_inverse=True)[1]
            training, held = split_rows(X, labels, self.held_out, seed, ids=ids)
            self.estimators_ = [fitted(estimator, X, y, training) for estimator in self.estimators]
        self.classes_ = np.asarray(self.estimators_[0].classes_)
        for estimator in self.estimators_[1:]:
            if not np.array_equal(estimator.classes_, self.classes_):
                names = ", ".join(map(str, estimator.classes_[:5]))
                raise InvalidInputError(f"`estimators` must have the same classes, got one with {names}.")
        return held

    def _outputs(self, stage: int, X: Any, **about: Any) -> Outputs:
        score = None if self.scores is None else self.scores[stage]
        return outputs_of(self.estimators_[stage], X, classes=self.classes_, score=score, **about)

    def _combined(self, X: Any) -> Outputs:
        """Each classifier is run on the samples that reach it, and on one at least, so that it has outputs."""
        check_is_fitted(self)
        ids = np.arange(_num_samples(X))
        outputs = [self._outputs(0, X, ids=ids)]
        for stage in range(1, len(self.estimators_)):
            left = np.flatnonzero(self.cascade_.deferred(outputs))
            left = left if left.size else ids[:1]
            outputs.append(self._outputs(stage, _safe_indexing(X, left), ids=left))
        return self.cascade_.combined(outputs)


def _names(estimators: Sequence[Any]) -> list[str] | None:
    """Those of their classes, where these differ."""
    inner = [each.estimator if isinstance(each, FrozenEstimator) else each for each in estimators]
    names = [type(each).__name__ for each in inner]
    return names if len(set(names)) == len(names) else None
