"""The operating point that a report decides for: a score, a threshold, and what is guaranteed."""

from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._text import listed, percent, sentence
from abstain.evaluation import Evaluation, verdict
from abstain.evaluation.bounds import upper_bounds
from abstain.evaluation.proposal import LEAST, SHARE, TRIALS, rounded_up
from abstain.metrics.checks import rejected_last
from abstain.metrics.group_comparison import GroupComparison, compare_groups
from abstain.outputs import Outputs
from abstain.selector import Selector
from abstain.thresholds import NoSafeThresholdError, Threshold
from abstain.thresholds.baselines import bonferroni
from abstain.thresholds.evidence import Evidence
from abstain.thresholds.guarantee import Guarantee
from abstain.thresholds.target_risk import target_risk

MANY = 200_000  # rows without ids: with more the usual rule takes seconds, and a plainer one certifies about as much


@final
@dataclass(frozen=True, kw_only=True)
class Point:
    """Rows ranked by a score, those that are accepted, and why there."""

    outputs: Outputs
    """The rows."""
    indices: NDArray[np.int64] | None
    """(n,) where they are among the rows that the evaluation was given, from 0; None where they are all of these."""
    score: str
    confidence: NDArray[np.float64]
    """(n,) −inf where a row is non-finite."""
    errors: NDArray[Any]
    predictions: NDArray[np.int64] | None
    """(n,) or None where only confidences were given."""
    accepted: NDArray[np.bool_]
    margin: NDArray[np.float64]
    """(n,) confidence above the threshold that decides for the row."""
    threshold: Threshold | None
    """None where nothing can be guaranteed, and every usable row is accepted."""
    selector: Selector | None
    """Whose point it is, where a selector was given."""
    target: float | None
    """The risk aimed at."""
    was_asked: bool
    """Whether the target was asked for, or chosen for the page."""
    objection: str = ""
    """Why nothing can be guaranteed."""
    achievable: Threshold | None = None
    """Of about the lowest risk that can be guaranteed and is below that of all rows, where the one asked for cannot."""
    missed: float | None = None
    """Half of the errors, where that was aimed at first and cannot be certified."""

    @property
    def value(self) -> float | None:
        """γ, None where groups have thresholds of their own."""
        if self.selector is not None and self.selector.groups is not None:
            return None
        return -np.inf if self.threshold is None else self.threshold.value

    @property
    def is_decided(self) -> bool:
        """Whether there is a threshold, or several, to decide by."""
        return self.selector is not None or self.threshold is not None

    @property
    def evidence(self) -> Evidence:
        """The rows that what is guaranteed of the risk is about, or all where nothing is."""
        ids = None if self.outputs.ids is None else self.outputs.samples[0]
        return Evidence.of(self.guarantee, np.ones(len(self.errors), dtype=bool), ids, self.confidence, self.errors)

    @property
    def coverage(self) -> float:
        """The share of rows accepted."""
        return float(np.mean(self.accepted))

    @property
    def risk(self) -> float:
        """The share of errors among them, 0 where there is none of them."""
        return float(np.mean(self.errors[self.accepted])) if self.accepted.any() else 0.0

    def groups(self, level: float, /) -> GroupComparison | None:
        """The rates of each group, with intervals that hold together; None without groups."""
        if self.outputs.domain is None:
            return None
        limited = {} if self.selector is None else self.selector.limited_classes(self.outputs)
        of_rows = (self.outputs.domain, self.accepted, self.errors)
        return compare_groups(*of_rows, ids=self.outputs.ids, level=level, classes=limited)

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee about the risk, None where something else or nothing is guaranteed."""
        guarantees = () if self.threshold is None else self.threshold.guarantees
        return next((guarantee for guarantee in guarantees if guarantee.quantity.is_risk), None)

    @property
    def guaranteed_risk(self) -> float | None:
        """The risk that is guaranteed, if any is."""
        return None if self.guarantee is None else self.guarantee.limit

    @property
    def offered(self) -> float | None:
        """The threshold to begin with: γ, or that of the achievable risk where nothing can be guaranteed."""
        return self.value if self.achievable is None else self.achievable.value

    @property
    def offered_risk(self) -> float | None:
        """The risk that is guaranteed, or the achievable one, if any is."""
        return self.guaranteed_risk if self.achievable is None else self.achievable.guarantee.limit


def point_of(evaluation: Evaluation, /, *, selector: Selector | None, risk: float | None, delta: float) -> Point:
    """The point of a selector, or else the recommended score at a target risk."""
    if selector is not None:
        return point_of_selector(evaluation, selector)
    return point_of_risk(evaluation, risk=risk, delta=delta)


def point_of_selector(evaluation: Evaluation, selector: Selector, /) -> Point:
    """What a selector does on the rows of an evaluation: all that were given, as it needs none to be fitted on."""
    outputs = evaluation.given
    confidence = rejected_last(selector.confidence(outputs))
    with np.errstate(invalid="ignore"):
        margin = confidence - selector.values(outputs)
    return Point(
        outputs=outputs,
        indices=None,
        score=selector.score,
        confidence=confidence,
        errors=selector.outcomes(outputs),
        predictions=selector.predictions(outputs) if outputs.n_classes else None,
        accepted=selector.accepts(outputs),
        margin=np.nan_to_num(margin, nan=-np.inf, posinf=np.inf, neginf=-np.inf),
        threshold=selector.threshold,
        selector=selector,
        target=selector.threshold.guarantee.target,
        was_asked=True,
    )


def point_of_risk(evaluation: Evaluation, /, *, risk: float | None, delta: float) -> Point:
    """The score that `evaluate` recommends at a target risk, as `calibrate` would set its threshold on these rows.

    Without a ``risk`` the point aims at half of the errors that there are at full coverage, or at what is achievable.
    """
    score, errors, rows = verdict(evaluation).score, evaluation.outcomes, evaluation.outputs
    clusters = None if rows.ids is None else rows.samples[0]
    confidence = rejected_last(evaluation.confidence[score])
    rule = target_risk if clusters is not None or len(errors) <= MANY else bonferroni
    certified = partial(rule, confidence, errors, delta=delta, ids=clusters)
    targets = [risk] if risk is not None else _targets(confidence, errors, delta)
    threshold, target, refusal = None, None, None
    for target in targets:
        try:
            threshold = certified(risk=target)
            break
        except NoSafeThresholdError as error:
            refusal = refusal or error
    lowest = None if risk is None or refusal is None else refusal.lowest_risk
    value = -np.inf if threshold is None else threshold.value
    return Point(
        outputs=evaluation.outputs,
        indices=evaluation.indices,
        score=score,
        confidence=confidence,
        errors=errors,
        predictions=evaluation.outputs.predictions if evaluation.outputs.n_classes else None,
        accepted=confidence > value,
        margin=confidence - value if np.isfinite(value) else confidence,
        threshold=threshold,
        selector=None,
        target=target,
        was_asked=risk is not None,
        objection="" if threshold else _objection(refusal, targets[0] if targets else None, delta),
        achievable=None if lowest is None or lowest >= errors.mean() else certified(risk=lowest),
        missed=targets[0] if risk is None and target is not None and target != targets[0] else None,
    )


def _objection(refusal: NoSafeThresholdError | None, risk: float | None, delta: float) -> str:
    """What cannot be certified on these rows, and what can."""
    if refusal is None or risk is None:
        return "No risk below 100% can be certified on these rows."
    limits = [f"a risk of {percent(row.risk)}" for row in refusal.achievable if row.delta == delta]
    return (
        f"No threshold certifies a risk of at most {percent(risk)} with probability {percent(1 - delta)} on these "
        f"rows. {sentence(listed(limits or ['no risk below 100%']))} {'are' if len(limits) > 1 else 'is'} achievable."
    )


def _targets(confidence: NDArray[np.float64], errors: NDArray[Any], delta: float) -> list[float]:
    """Risks to aim at, the lowest first: half of what there is, then what looks achievable."""
    order = np.argsort(-confidence, kind="stable")
    ranks = np.unique(np.linspace(LEAST * len(order), len(order), TRIALS).astype(np.int64).clip(1))
    bounds = upper_bounds(np.cumsum(errors[order])[ranks - 1], ranks, delta=delta / TRIALS)
    half = SHARE * float(errors.mean())
    first = max(half, float(bounds.min()))
    trials = [rounded_up(trial) for trial in (half, *(first * step for step in (1.0, 1.5, 2.0))) if trial]
    return [trial for trial in dict.fromkeys(trials) if 0 < trial < 1]
