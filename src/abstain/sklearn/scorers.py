"""Scorers for model selection: how good a classifier is at knowing when it is wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain import metrics
from abstain._arguments import check_share
from abstain._errors import InvalidInputError
from abstain.metrics.checks import rejected_last
from abstain.scores.registry import DEFAULT, AnyScore, as_score
from abstain.scores.score import Score
from abstain.sklearn.arguments import check_numbers
from abstain.sklearn.estimator_outputs import outputs_of, wrong_answers

Metric = Callable[..., float]


@final
@dataclass(frozen=True)
class SelectionScorer:
    """``scorer(estimator, X, y)``, as GridSearchCV and cross_validate call it; higher = better.

    A `SelectiveClassifier` is scored by its own confidence, any other classifier by ``score``, one of the
    logits that needs no fitting. Rows whose answer is not the class that these favour come last.
    """

    metric: str
    options: tuple[tuple[str, float], ...]
    score: AnyScore

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The metric of a fitted classifier on samples it has not seen."""
        confidence = confidence_of(estimator, X, self.score)
        wrong = wrong_answers(y, answers_of(estimator, X))
        return METRICS[self.metric](rejected_last(confidence), wrong, weights=sample_weight, **dict(self.options))


def confidence_of(estimator: Any, X: Any, score: AnyScore, /) -> NDArray[np.float64]:
    """(n,) a selective classifier's own confidence, alone or at the end of a pipeline; else that of a score."""
    selective, x = _selective(estimator, X)
    if selective is not None:
        return np.asarray(selective.confidence_scores(x))
    classes, entry = np.asarray(estimator.classes_), logit_score(score)
    outputs = outputs_of(estimator, X, classes=classes, score=entry)
    return np.asarray(entry.fit(outputs)(outputs))


def answers_of(estimator: Any, X: Any, /) -> NDArray[Any]:
    """(n,) the answer to every sample, accepted or not."""
    selective, x = _selective(estimator, X)
    return np.asarray(estimator.predict(X) if selective is None else selective.predict_all(x))


def _selective(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The selective classifier, alone or at the end of a pipeline, and its input; None where there is none."""
    *before, last = (step for _, step in estimator.steps) if hasattr(estimator, "steps") else (estimator,)
    if not hasattr(last, "confidence_scores"):
        return None, X
    return last, estimator[:-1].transform(X) if before else X


def logit_score(score: AnyScore, /) -> Score:
    """The score that is meant, one of the logits that needs no fitting."""
    entry = as_score(score)
    if set(entry.needs) - {"logits"}:
        raise InvalidInputError(f"`score` must be one of the logits that needs no fitting, got {entry.name}.")
    return entry


def coverage_at_risk(*, risk: float, score: AnyScore = DEFAULT) -> SelectionScorer:
    """A scorer: the largest share of samples that can be accepted with an observed risk of at most ``risk``.

    Parameters
    ----------
    risk : float
        From 0 to 1.
    score : str, Score or function
        The confidence of a classifier that is not selective: one of the logits that needs no fitting.

    Returns
    -------
    SelectionScorer
        ``scorer(estimator, X, y)``; higher = better.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.naive_bayes import GaussianNB
    >>> search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-2]}, scoring=coverage_at_risk(risk=0.05), cv=3)
    >>> search.fit(*load_digits(return_X_y=True)).best_params_
    {'var_smoothing': 0.01}
    """
    check_numbers(risk=risk)
    if not 0 <= risk <= 1:
        raise InvalidInputError(f"`risk` must be between 0 and 1, got {risk}.")
    return _scorer("coverage_at_risk", score, risk=risk)


def selective_accuracy(*, coverage: float, score: AnyScore = DEFAULT) -> SelectionScorer:
    """A scorer: the accuracy on the most trusted ``coverage`` of the samples.

    Parameters
    ----------
    coverage : float
        The share to accept, above 0 and at most 1.
    score : str, Score or function
        The confidence of a classifier that is not selective: one of the logits that needs no fitting.

    Returns
    -------
    SelectionScorer
        ``scorer(estimator, X, y)``; higher = better.
    """
    check_numbers(coverage=coverage)
    check_share("coverage", coverage)
    return _scorer("selective_accuracy", score, coverage=coverage)


def neg_aurc(*, alpha: float = 1.0, score: AnyScore = DEFAULT) -> SelectionScorer:
    """A scorer: minus AURC-α, which weighs all coverages up to α.

    Parameters
    ----------
    alpha : float
        α, above 0 and at most 1.
    score : str, Score or function
        The confidence of a classifier that is not selective: one of the logits that needs no fitting.

    Returns
    -------
    SelectionScorer
        ``scorer(estimator, X, y)``; higher = better.
    """
    check_numbers(alpha=alpha)
    check_share("alpha", alpha)
    return _scorer("neg_aurc", score, alpha=alpha)


def _scorer(metric: str, score: AnyScore, **options: float) -> SelectionScorer:
    logit_score(score)
    return SelectionScorer(metric, tuple(options.items()), score)


METRICS: dict[str, Metric] = {
    "coverage_at_risk": metrics.coverage_at_risk,
    "selective_accuracy": lambda *sample, **options: 1 - metrics.risk_at_coverage(*sample, **options),
    "neg_aurc": lambda *sample, **options: -metrics.aurc(*sample, **options),
}
