"""`calibrate`: outputs like those to come, a target, and the selector that keeps it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from abstain.outputs import Outputs
from abstain.scores.fitting_draw import split_to_fit
from abstain.scores.registry import EXPECTED_COST, AnyScore, as_scores
from abstain.scores.score import Score
from abstain.selector.choice import accountable, best_score
from abstain.selector.selector import Selector
from abstain.selector.target import Asked, Per
from abstain.thresholds.sample import one_per_cluster
from abstain.thresholds.score_law import ScoreLaw


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
    seed: int = 0,
) -> Selector:
    """A selector for a target selective risk, coverage, or ``cost`` of rejecting, from outputs like those to come.

    What it promises is in ``selector.threshold.promise`` and, in words, in ``selector.summary()``. A ``risk`` alone, or
    per group, is that of rows: by `step_down` where every row is independent and by `betting` where rows with the same
    ids form clusters. Other targets take one row of each cluster, and say so. ``delta=None`` asks for a coverage in
    expectation only. A ``risk`` and a ``coverage`` are kept together, or the error says which pairs can be.

    ``per="class"`` gives each predicted class a threshold of its own, ``per="domain"`` each domain: all hold together
    with probability 1 − δ, or each for itself with ``jointly=False``, and one that cannot be certified is always
    rejected. With a ``group_risk`` there is one threshold, with at most ``risk`` overall and ``group_risk`` in each.

    ``score`` is a name such as ``"knn"`` or ``"knn(k=5)"``, a score object, or a function of outputs; of several the
    best is taken, or with ``"best"`` the best of all that the outputs allow: it is chosen on a fifth of the rows, and
    the threshold sees only the others. A score that needs fitting gets rows of its own, drawn at random, a fifth of
    all, or more until five per class are in-distribution, at most half. Rows that are not usable count as errors that
    are never accepted.

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
    )
    candidates = _candidates(score, outputs, asked)
    tried: list[str] = []
    entry = candidates[0]
    if len(candidates) > 1:
        entry, outputs, tried = best_score(candidates, outputs, asked.objective(), seed=seed)
    fitting, rest = outputs, outputs
    if entry.needs_fitting:
        fitting, rest = split_to_fit(outputs, seed=seed, shifted_too=asked.weighs_answers)
    fitted = entry.fit(fitting)
    confidence = accountable(fitted(rest))
    threshold, groups = asked.threshold(fitted, rest, confidence, seed)
    if tried:
        note = f"the score was chosen among {len(tried)} on other rows, which costs the promise nothing"
        threshold = replace(threshold, promise=threshold.promise.noting(note))
    independent = confidence[one_per_cluster(confidence, np.zeros(len(rest)), ids=rest.ids, seed=seed)]
    law = ScoreLaw.of(independent, seed=seed)
    return Selector(entry, fitted, threshold, outputs.n_classes, law, groups, outputs.class_names)


def _candidates(score: AnyScore | Sequence[AnyScore] | None, outputs: Outputs, asked: Asked) -> list[Score]:
    """The scores to choose among, all of which the outputs allow; one where there is nothing to choose."""
    if asked.weighs_answers or score == EXPECTED_COST.name:
        if score not in (None, EXPECTED_COST.name):
            raise ValueError(f"`score` must be left out where answers are weighed by costs, got {score!r}.")
        return [_allowed(asked.expected_cost(outputs.n_classes), outputs)]
    if score is None:
        score = outputs.given_names[0] if outputs.given_names and not outputs.n_classes else "confidence_margin"
    if score == "best":
        return [one for one in as_scores("all", outputs) if one.objection(outputs) is None]
    return [_allowed(one, outputs) for one in as_scores(score, outputs)]


def _allowed(score: Score, outputs: Outputs) -> Score:
    if objection := score.objection(outputs):
        raise ValueError(f"`outputs` must have what {score.name} needs, got {objection}.")
    return score
