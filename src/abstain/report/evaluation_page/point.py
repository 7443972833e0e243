"""The operating point that a page decides for: a score, a threshold, and what is promised."""

from dataclasses import dataclass
from math import floor, log10
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation import Evaluation, verdict
from abstain.metrics.checks import rejected_last
from abstain.selector import Selector
from abstain.thresholds import NoSafeThresholdError, Threshold
from abstain.thresholds.binomial import upper_bound
from abstain.thresholds.promise import RISK
from abstain.thresholds.target_risk import target_risk

SHARE = 0.5  # of the errors at full coverage: what is aimed at where nobody says


@final
@dataclass(frozen=True, kw_only=True)
class Point:
    """Rows ranked by a score, those that are accepted, and why there."""

    score: str
    confidence: NDArray[np.float64]
    """(n,) −inf where a row is not usable."""
    errors: NDArray[np.bool_]
    predictions: NDArray[np.int64] | None
    """(n,) or None where only confidences were given."""
    accepted: NDArray[np.bool_]
    margin: NDArray[np.float64]
    """(n,) confidence above the threshold that decides for the row."""
    threshold: Threshold | None
    """None where nothing can be promised, and every usable row is accepted."""
    selector: Selector | None
    """Whose point it is, where a selector was given."""
    target: float | None
    """The risk aimed at."""
    was_asked: bool
    """Whether the target was asked for, or chosen for the page."""
    objection: str = ""
    """Why nothing can be promised."""

    @property
    def value(self) -> float | None:
        """γ, None where groups have thresholds of their own."""
        if self.selector is not None and self.selector.groups is not None:
            return None
        return -np.inf if self.threshold is None else self.threshold.value

    @property
    def coverage(self) -> float:
        """The share of rows accepted."""
        return float(np.mean(self.accepted))

    @property
    def risk(self) -> float:
        """The share of errors among them, 0 where there is none of them."""
        return float(np.mean(self.errors[self.accepted])) if self.accepted.any() else 0.0

    @property
    def promised_risk(self) -> float | None:
        """The risk that is promised, None where something else or nothing is."""
        found = () if self.threshold is None else (self.threshold.promise, *self.threshold.further)
        return next((one.certified for one in found if one.quantity == RISK and one.relation == "at most"), None)


def point_of_selector(evaluation: Evaluation, selector: Selector, /) -> Point:
    """What a selector does on the rows of an evaluation."""
    outputs = evaluation.outputs
    confidence = rejected_last(selector.confidence(outputs))
    answers = selector.predictions(outputs) if outputs.n_classes else None
    errors = outputs.errors
    if answers is not None and outputs.labels is not None:
        errors = (answers != outputs.labels) | ~outputs.usable  # costs may have changed the answers
    with np.errstate(invalid="ignore"):
        margin = confidence - selector.values(outputs)
    return Point(
        score=selector.score,
        confidence=confidence,
        errors=errors,
        predictions=answers,
        accepted=selector.accepts(outputs),
        margin=np.nan_to_num(margin, nan=-np.inf, posinf=np.inf, neginf=-np.inf),
        threshold=selector.threshold,
        selector=selector,
        target=selector.threshold.promise.target,
        was_asked=True,
    )


def point_of_risk(evaluation: Evaluation, /, *, risk: float | None, delta: float) -> Point:
    """The recommended score at a target risk, as `calibrate` would set its threshold on these rows.

    Without a ``risk`` the point aims at half of the errors that there are at full coverage, or at what is in reach.
    """
    score = verdict(evaluation).score
    confidence = rejected_last(evaluation.confidence[score])
    outputs, errors = evaluation.outputs, evaluation.errors
    threshold, target, objection = None, risk, ""
    for target in [risk] if risk is not None else _targets(float(errors.mean()), len(errors), delta):
        try:
            threshold = target_risk(confidence, errors, risk=target, delta=delta, ids=outputs.ids)
            break
        except NoSafeThresholdError as error:
            objection = objection or str(error)
    value = -np.inf if threshold is None else threshold.value
    return Point(
        score=score,
        confidence=confidence,
        errors=errors,
        predictions=predictions_of(evaluation),
        accepted=confidence > value,
        margin=confidence - value if np.isfinite(value) else confidence,
        threshold=threshold,
        selector=None,
        target=target,
        was_asked=risk is not None,
        objection="" if threshold else objection or "No risk below 1 can be certified on so few rows.",
    )


def predictions_of(evaluation: Evaluation, /) -> NDArray[np.int64] | None:
    """(n,) the classifier's own, None where only confidences were given."""
    return evaluation.outputs.predictions if evaluation.outputs.n_classes else None


def _targets(risk: float, n: int, delta: float) -> list[float]:
    """Risks to aim at, the lowest first: half of what is there, but no less than many rows without an error show."""
    first = max(SHARE * risk, 2 * upper_bound(0, n, delta))
    trials = [_one_digit(first * step) for step in (1.0, 1.4, 2.0, 3.0, 5.0)]
    return [trial for trial in dict.fromkeys(trials) if 0 < trial < 1]


def _one_digit(value: float) -> float:
    digits = -floor(log10(value))
    return round(value, digits)
