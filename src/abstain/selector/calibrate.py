"""`calibrate`: outputs like those to come, or a sketch of them, a target, and the selector that keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from abstain._errors import InvalidInputError
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.hashes import outputs_digest
from abstain.outputs.outputs import expect_outputs
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import FittingRows, split_to_fit
from abstain.scores.registry import default_score
from abstain.scores.score import Score
from abstain.selector.calibration_data import CalibrationData, class_names_of, largest_cluster, slice_counts
from abstain.selector.choice import Scores, best_score
from abstain.selector.seen_rows import SeenRows
from abstain.selector.selector import Selector
from abstain.selector.targets import target_of
from abstain.selector.targets.target import ScoredRows, Target, Thresholds
from abstain.sketch import BinCounts, Sketch
from abstain.sketch.thresholds import MOST, BinnedSample
from abstain.thresholds.refusal import NoSafeThresholdError
from abstain.thresholds.sample import one_per_cluster
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold


def calibrate(
    outputs: Outputs,
    target: Target | None = None,
    /,
    *,
    score: Scores | None = None,
    risk: float | None = None,
    coverage: float | None = None,
    review: float | None = None,
    miss_rate: Mapping[str | int, float] | None = None,
    cost: float | ArrayLike | None = None,
    delta: float | None = 0.05,
    seed: int = 0,
) -> Selector:
    """Make a selector for a target, such as a risk, coverage or cost, from labelled outputs like those to come.

    Use rows that trained neither the classifier nor the score. ``selector.summary()`` prints what is guaranteed.

    Parameters
    ----------
    outputs : Outputs
        Rows drawn as those of deployment are; non-finite ones count as errors that are never accepted.
    target : Target, optional
        Instead of the numbers below: a target with all options, such as ``Risk(0.02, per="class")``.
    score : str, score or list of these, optional
        The confidence, by default ``"confidence_margin"``. Of several, or with ``"best"`` of all that the outputs
        allow, the best is chosen on a fifth of the rows; a score that needs fitting gets rows of its own.
    risk : float, optional
        The largest share of errors among accepted rows. With ``coverage`` or ``miss_rate``, both are guaranteed.
    coverage : float, optional
        The smallest share of rows that is accepted.
    review : float, optional
        The largest share of rows that is rejected; the guarantee has a bound on the risk that this leaves.
    miss_rate : dict of str or int to float, optional
        By true class, the largest share of its rows that is accepted with another answer, ``{"fraud": 0.05}``.
    cost : float or array_like, optional
        What rejecting a row costs, where an error costs 1: one number, or one for each true class.
    delta : float or None
        The probability, over the draw of these rows, with which the guarantee may fail. None, for coverage, asks for
        it in expectation only.
    seed : int
        Of the draws of rows.

    Returns
    -------
    Selector
        The fitted score and its threshold, with the guarantee in ``selector.threshold.guarantee``.

    Raises
    ------
    NoSafeThresholdError
        No threshold keeps the target on these rows; ``error.achievable`` lists targets that can be kept.

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> selector = calibrate(digits(), risk=0.05)
    >>> selector.threshold.guarantee.target
    0.05
    """
    expect_outputs(outputs)
    aim = target_of(target, delta=delta, risk=risk, coverage=coverage, review=review, miss_rate=miss_rate, cost=cost)
    only = score[0] if isinstance(score, list | tuple) and len(score) == 1 else score
    entry, fitting, rest, tried = _chosen(aim.scores(only, outputs), outputs, aim, seed)
    fitted = entry.fit(fitting.of(entry))
    confidence = rejected_last(fitted(rest))
    rest = aim.labelled(rest, confidence)
    rows = ScoredRows(rest, fitted, confidence, seed)
    threshold, groups = _threshold(aim, rows)
    if rest.is_graded:
        threshold, groups = threshold.of_losses(), None if groups is None else groups.of_losses()
    notes = []
    if fitted.singles and groups is None and threshold.guarantee.quantity.is_risk and not threshold.further:
        notes.append(improvement(entry.name, threshold, aim, rows))
    if tried:
        notes.append(
            f"{entry.name} was chosen among {len(tried)} scores on other rows, which costs the guarantee nothing"
        )
    for words in notes:
        threshold = replace(threshold, guarantee=threshold.guarantee.noting(words))
    drawn = one_per_cluster(confidence, np.zeros(len(rest)), ids=rest.ids, seed=seed)
    distribution = ScoreDistribution.of(confidence[drawn], seed=seed)
    selector = Selector(entry, fitted, threshold, outputs.n_classes, distribution, groups, outputs.class_names)
    return replace(selector, calibration=_data(selector, outputs, rows), seen=SeenRows.of(outputs))


def calibrate_sketch(
    sketch: Sketch,
    target: Target | None = None,
    /,
    *,
    score: str | None = None,
    risk: float | None = None,
    coverage: float | None = None,
    delta: float | None = 0.05,
) -> Selector:
    """Make a selector for a target risk or coverage, from a sketch of rows like those to come.

    The threshold lies between bins and the guarantee is that of `calibrate`, as far as counts allow: where a sample may
    have several rows there is none, and the guarantee notes it. Unless the sketch keeps every bit, the selector does
    not know the distribution of confidence within bins, and `abstain.monitor` watches risk and share accepted alone.

    Parameters
    ----------
    sketch : Sketch
        Counts by bins of confidence; the fitted score is in it.
    target : Target, optional
        `Risk` or `Coverage`; with ``per``, of the classes or domains that the sketch keeps apart.
    score : str, optional
        The name of a score of the sketch.
    risk, coverage, delta : float, optional
        The short form of the target.

    Returns
    -------
    Selector
        The score of the sketch and its threshold.
    """
    aim = target_of(target, delta=delta, risk=risk, coverage=coverage)
    if score == "best" and score not in sketch.scores:
        raise InvalidInputError(
            "`score` must name a score of the sketch, got 'best', which needs the rows to choose on. Calibrate the "
            f"outputs, or name one of {', '.join(sketch.scores)}."
        )
    name = default_score(sketch.scores) if score is None else score
    counts = sketch.counts(name)
    try:
        threshold, groups = aim.threshold_of_sketch(sketch, name)
    except NoSafeThresholdError as error:
        raise error.explained() from None
    planned, plan = sketch.plan.scores[name], sketch.plan
    distribution = distribution_of(counts)
    return Selector(planned.entry, planned.fitted, threshold, plan.n_classes, distribution, groups, plan.class_names)


def _chosen(
    possible: list[Score], outputs: Outputs, target: Target, seed: int
) -> tuple[Score, FittingRows, Outputs, list[str]]:
    """The score, the rows to fit it on, the other rows, and the names of all scores tried, if several were."""
    entry = possible[0]
    if len(possible) > 1:
        return best_score(possible, outputs, alpha=target.alpha, seed=seed)
    if entry.needs_fitting:
        return entry, *split_to_fit(outputs, seed=seed, share=entry.fitting_share), []
    return entry, FittingRows.all_alike(outputs), outputs, []


def _threshold(target: Target, rows: ScoredRows) -> Thresholds:
    """The threshold of the target, or its fallback; an error lists what is achievable."""
    try:
        return target.threshold(rows)
    except NoSafeThresholdError as error:
        fallback = target.fallback(len(rows.outputs))
        if fallback is None:
            raise error.explained() from None
        return fallback, None


def _data(selector: Selector, given: Outputs, rows: ScoredRows) -> CalibrationData:
    """Counts of the rows that certify, by what the selector decides on them."""
    rest = rows.outputs
    accepted, outcomes = selector.accepted(rest, rows.confidence), rows.outcomes if rest.is_labelled else None
    classes = class_names_of(rows.predictions, given.class_names) if rest.n_classes else None
    return CalibrationData(
        digest=outputs_digest(given),
        rows=len(given),
        samples=given.samples[1],
        unusable=int(np.count_nonzero(~given.usable)),
        held_out=len(given) - len(rest),
        largest=largest_cluster(rest),
        classes=slice_counts(classes, accepted, outcomes),
        domains=slice_counts(rest.domain, accepted, outcomes),
    )


def improvement(name: str, certified: Threshold, target: Target, rows: ScoredRows, /) -> str:
    """How much more of these rows a combination accepts than the best single score, certified on them at the same risk.

    The best in hindsight, so that the improvement is understated rather than overstated.
    """
    singles, shares = rows.fitted.singles, {}
    for single, confidence in confidences(rows.outputs, singles).items():
        try:
            alone, _ = target.threshold(replace(rows, fitted=singles[single], confidence=rejected_last(confidence)))
            shares[single] = alone.accepted / alone.n
        except NoSafeThresholdError:
            shares[single] = 0.0
    best, here = max(shares, key=lambda single: shares[single]), certified.accepted / certified.n
    if not shares[best]:
        return f"{name} accepts {here:.1%} of these rows, and none of the {len(shares)} that it weighs any alone"
    points = 100 * (here - shares[best])
    return (
        f"{name} accepts {here:.1%} of these rows, {abs(points):.1f} points {'more' if points >= 0 else 'fewer'} than "
        f"{best} ({shares[best]:.1%}), the best alone of the {len(shares)} that it weighs"
    )


def distribution_of(counts: BinCounts, /) -> ScoreDistribution:
    """The distribution of confidence where the sketch keeps every bit; else one part that holds all confidences."""
    if counts.is_exact and counts.n <= MOST and not counts.are_clusters:
        return ScoreDistribution.of(BinnedSample(counts).rows()[0][::-1])
    return ScoreDistribution((), (), (counts.n + 1,))
