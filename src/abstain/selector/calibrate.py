"""`calibrate`: outputs like those to come, a target, and the selector that keeps it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.scores.fitting_draw import FittingRows, split_to_fit
from abstain.scores.registry import EXPECTED_COST, AnyScore
from abstain.scores.score import Score
from abstain.selector.calibration_data import CalibrationData
from abstain.selector.choice import allowed, best_score, candidates
from abstain.selector.gained import gained
from abstain.selector.seen import SeenRows
from abstain.selector.selector import Selector
from abstain.selector.target import Asked, Per
from abstain.thresholds.reject_all import reject_all
from abstain.thresholds.sample import one_per_cluster
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import NoSafeThresholdError, Threshold


def calibrate(
    outputs: Outputs,
    /,
    *,
    score: AnyScore | Sequence[AnyScore] | None = None,
    risk: float | None = None,
    coverage: float | None = None,
    cost: float | ArrayLike | None = None,
    costs: ArrayLike | None = None,
    per: Per | None = None,
    group_risk: float | None = None,
    jointly: bool = True,
    delta: float | None = 0.05,
    method: str | None = None,
    largest_cluster: int | None = None,
    label_above: float | None = None,
    when_impossible: Literal["raise", "reject_all"] = "raise",
    seed: int = 0,
) -> Selector:
    """A selector for a target selective risk, coverage, or ``cost`` of rejecting, from outputs like those to come.

    What it promises is in ``selector.threshold.promise`` and, in words, in ``selector.summary()``. A ``risk`` alone, or
    per group, is that of rows: by `step_down` where they are independent. With ids, which name clusters, it is that of
    clusters of at most ``largest_cluster`` rows, by default as many as the largest here has, and larger ones are not
    guaranteed anything: by `betting`, or `step_down` where that is one row. Other targets take one row of each cluster,
    and say so. ``delta=None`` asks for a coverage in expectation only. A ``risk`` and a ``coverage`` are kept together,
    or the error says which pairs can be.

    ``per="class"`` gives each predicted class a threshold of its own, ``per="domain"`` or ``"group"`` each domain: all
    hold together with probability 1 − δ, or each for itself with ``jointly=False``, and one that cannot be certified is
    always rejected. With a ``group_risk`` there is one threshold, with at most ``risk`` overall and ``group_risk`` in
    each.

    ``score`` is a name such as ``"knn"`` or ``"knn(k=5)"``, a score object, or a function of outputs; of several the
    best is taken, or with ``"best"`` the best of all that the outputs allow, ``learned`` among them: it is chosen, and
    fitted, on a fifth of the rows, and the threshold sees only the others. A score that needs fitting gets rows of its
    own, drawn at random, a fifth of all, or more until five per class are in-distribution, at most half. ``"learned"``
    weighs scores by what labelled rows of every kind show, three tenths of all, and its promise tells what it gained
    over one. Rows that are not usable count as errors that are never accepted. Where no threshold keeps a risk, that
    is an error, or with ``when_impossible="reject_all"`` a selector that accepts nothing.

    With ``label_above``, labels of rows at or below that confidence are ignored, and those rows are never accepted, so
    only rows above it need a label. Fix it before labelling, for example with `thresholds.label_floor` on unlabelled
    rows. The score must be one that needs no fitting.

    An error costs 1 and ``cost`` is that of rejecting, one number or one for each true class; ``costs[ŷ, y]`` are other
    costs of predicting ŷ where y is true. The method ``minimal_cost`` chooses the threshold on the sample, ``chow``
    trusts probabilities, temperature-scaled on rows of every kind; both bound the expected cost.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=3000)
    >>> outputs = Outputs(logits=rng.normal(size=(3000, 3)) + 3 * np.eye(3)[labels], labels=labels)
    >>> selector = calibrate(outputs, risk=0.02, delta=0.1)
    >>> bool(outputs.errors[selector.accepts(outputs)].mean() < 0.02)
    True
    """
    expect_outputs(outputs)
    asked = Asked(
        risk=risk,
        coverage=coverage,
        cost=cost,
        costs=costs,
        per=per,
        group_risk=group_risk,
        jointly=jointly,
        delta=delta,
        method=method,
        largest_cluster=largest_cluster,
        label_above=label_above,
    )
    asked.check_refuge(when_impossible)
    possible = _candidates(score, outputs, asked)
    if label_above is not None and (len(possible) > 1 or possible[0].needs_fitting):
        raise ValueError(
            "`label_above` must come with one score that needs no fitting, as the labels are not all there."
        )
    tried: list[str] = []
    entry, fitting, rest = possible[0], FittingRows.all_alike(outputs), outputs
    if len(possible) > 1:
        entry, fitting, rest, tried = best_score(possible, outputs, alpha=asked.alpha(), seed=seed)
    elif entry.needs_fitting:
        fitting, rest = split_to_fit(outputs, seed=seed, share=entry.fitting_share)
    fitted = entry.fit(fitting.of(entry))
    confidence = rejected_last(fitted(rest))
    try:
        threshold, groups = asked.threshold(fitted, rest, confidence, seed)
    except NoSafeThresholdError:
        if when_impossible == "raise" or risk is None or delta is None:
            raise
        threshold, groups = reject_all(len(rest), risk=risk, delta=delta), None
    if fitted.singles and asked.target == "risk":
        threshold = _noting(threshold, gained(entry.name, threshold, fitted.singles, asked, rest, seed=seed))
    if tried:
        words = f"{entry.name} was chosen among {len(tried)} scores on other rows, which costs the promise nothing"
        threshold = _noting(threshold, words)
    independent = confidence[one_per_cluster(confidence, np.zeros(len(rest)), ids=rest.ids, seed=seed)]
    distribution = ScoreDistribution.of(independent, seed=seed)
    found = Selector(entry, fitted, threshold, outputs.n_classes, distribution, groups, outputs.class_names)
    return replace(found, calibration=_data(found, outputs, rest, confidence), seen=SeenRows.of(outputs))


def _noting(threshold: Threshold, words: str) -> Threshold:
    return replace(threshold, promise=threshold.promise.noting(words))


def _data(selector: Selector, given: Outputs, rest: Outputs, confidence: NDArray[np.float64]) -> CalibrationData:
    return CalibrationData.of(
        given,
        rest,
        predictions=selector.predictions(rest) if rest.n_classes else None,
        accepted=selector.accepted(rest, confidence),
        errors=selector.errors(rest) if rest.is_labelled else None,
    )


def _candidates(score: AnyScore | Sequence[AnyScore] | None, outputs: Outputs, asked: Asked) -> list[Score]:
    """The scores to choose among, all of which the outputs allow; one where there is nothing to choose."""
    if isinstance(score, list | tuple) and len(score) == 1:
        score = score[0]
    if asked.weighs_answers or score == EXPECTED_COST.name:
        if score not in (None, EXPECTED_COST.name):
            raise ValueError(f"`score` must be left out where answers are weighed by costs, got {score!r}.")
        return [allowed(asked.expected_cost(outputs.n_classes), outputs)]
    return candidates(score, outputs)
