"""`calibrate_sketch`: counts of rows like those to come, a target, and the selector that keeps it."""

import numpy as np

from abstain.scores.default import default_score
from abstain.selector.calibration_data import class_names_of
from abstain.selector.group_thresholds import GroupThresholds
from abstain.selector.selector import Selector
from abstain.selector.target import Asked, Per
from abstain.sketch import Counts, Sketch
from abstain.sketch.plan import By
from abstain.sketch.sample import BinnedSample
from abstain.sketch.thresholds import MOST, target_coverage, target_risk
from abstain.thresholds.per_group import certified_groups, of_all_groups
from abstain.thresholds.score_distribution import ScoreDistribution
from abstain.thresholds.threshold import Threshold


def calibrate_sketch(
    sketch: Sketch,
    /,
    *,
    score: str | None = None,
    risk: float | None = None,
    coverage: float | None = None,
    per: Per | None = None,
    jointly: bool = True,
    delta: float | None = 0.05,
    method: str | None = None,
) -> Selector:
    """A selector for a target selective risk or coverage, from a sketch of rows like those to come.

    The threshold lies between bins and the promise is that of `calibrate`, as far as counts allow: where a sample may
    have several rows there is none, and the words say so. With ``per`` each predicted class or domain that the sketch
    keeps apart has a threshold of its own. The score is in the sketch, fitted. What the selector does not know is the
    distribution of confidence within bins, so that `abstain.monitor` watches risk and share accepted alone, unless
    the sketch keeps every bit.
    """
    asked = Asked(
        risk=risk,
        coverage=coverage,
        cost=None,
        costs=None,
        per=per,
        group_risk=None,
        jointly=jointly,
        delta=delta,
        method=None,
    )
    if asked.target not in ("risk", "coverage", "risk per group"):
        raise ValueError(f"A sketch must be calibrated for a risk or a coverage, got {asked.target}. Use the outputs.")
    if method is not None and asked.target != "risk":
        raise ValueError(f"`method` must be left out with `coverage` or `per`, which have one rule, got {method!r}.")
    if score == "best" and score not in sketch.scores:
        raise ValueError(
            "`score` must name a score of the sketch, got 'best', which needs the rows to choose on. Calibrate the "
            f"outputs, or name one of {', '.join(sketch.scores)}."
        )
    name = default_score(sketch.scores) if score is None else score
    counts = sketch.counts(name)
    groups = None
    if coverage is not None:
        threshold = target_coverage(counts, coverage=coverage, delta=delta)
    elif risk is not None and delta is not None:
        if per is None:
            threshold = target_risk(counts, risk=risk, delta=delta, method=method)
        else:
            found = _per(sketch, name, per, risk=risk, delta=delta, jointly=jointly)
            threshold = of_all_groups(found, risk=risk, delta=delta, jointly=jointly)
            groups = GroupThresholds(per, found)
    one, plan = sketch.plan.scores[name], sketch.plan
    return Selector(one.entry, one.fitted, threshold, plan.n_classes, distribution_of(counts), groups, plan.class_names)


def _per(sketch: Sketch, score: str, per: Per, *, risk: float, delta: float, jointly: bool) -> dict[str, Threshold]:
    """A threshold for each class or domain with usable rows."""
    by: By = "class" if per == "class" else "domain"
    names = sketch.names(by)
    called = class_names_of(np.array(names, dtype=np.int64), sketch.plan.class_names) if per == "class" else names
    parts = {str(name): sketch.counts(score, **{by: [key]}) for name, key in zip(called, names, strict=True)}
    usable = {name: part for name, part in parts.items() if (part.bins > 0).any()}

    def certify(name: str, level: float) -> Threshold:
        return target_risk(usable[name], risk=risk, delta=level)

    sizes = {name: part.n for name, part in usable.items()}
    return certified_groups(sizes, certify, risk=risk, delta=delta, jointly=jointly)


def distribution_of(counts: Counts, /) -> ScoreDistribution:
    """That of confidence where every bit is kept; else all confidences are one part, of which nothing is known."""
    if counts.is_exact and counts.n <= MOST and not counts.are_clusters:
        return ScoreDistribution.of(BinnedSample(counts).rows()[0][::-1])
    return ScoreDistribution((), (), (counts.n + 1,))
