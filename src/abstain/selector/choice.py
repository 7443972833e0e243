"""Choose among scores on rows that the threshold does not see, so that the choice costs the promise nothing."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import FittingRows, split_to_fit
from abstain.scores.registry import DEFAULT, AnyScore, as_scores
from abstain.scores.score import CannotFitError, FittedScore, Score
from abstain.thresholds.sample import Sample

Objective = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]
CHOOSING = 0.2  # of the rows
FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)  # of the target risk
FIT_SHARE = 0.4  # of the rows to choose on, for scores that need fitting


def best_score(
    scores: list[Score], outputs: Outputs, objective: Objective, /, *, seed: int
) -> tuple[Score, Outputs, list[str]]:
    """The best of the scores on a random fifth of the rows, the other rows, and the names of all that were tried.

    Scores that need fitting are fitted on a part of that fifth; one that cannot be is left out.
    """
    rng = outputs.generator("rows to choose a score on", seed)
    here = draw_rows(len(outputs), outputs.ids, size=CHOOSING * len(outputs), rng=rng)
    best, tried = best_on(scores, outputs.select(here), objective, seed=seed)
    return best, outputs.select(~here), tried


def best_on(scores: list[Score], choosing: Outputs, objective: Objective, /, *, seed: int) -> tuple[Score, list[str]]:
    """The best of the scores on these rows, and the names of all that were tried."""
    fitting, judging = FittingRows.all_alike(choosing), choosing
    if any(score.needs_fitting for score in scores):
        fitting, judging = split_to_fit(choosing, seed=seed, share=FIT_SHARE)
    fitted: dict[str, FittedScore] = {}
    for score in scores:
        with suppress(CannotFitError):
            fitted[score.name] = score.fit(fitting.of(score))
    if not fitted:
        raise ValueError("`score` must name a score that can be fitted on these rows, got none. Give more rows.")
    found = {
        name: objective(rejected_last(confidence), judging.errors)
        for name, confidence in confidences(judging, fitted).items()
    }
    best = max(found, key=lambda name: found[name])
    return next(score for score in scores if score.name == best), list(found)


def candidates(score: AnyScore | Sequence[AnyScore] | None, outputs: Outputs, /) -> list[Score]:
    """The scores to choose among, all of which the outputs allow; one where there is nothing to choose."""
    if score is None and not outputs.n_classes and len(outputs.given_names) > 1:
        raise ValueError(
            f"`score` must say which confidence to trust, {', '.join(outputs.given_names)}, or best, got none."
        )
    if score is None:
        score = outputs.given_names[0] if outputs.given_names and not outputs.n_classes else DEFAULT
    if score == "best":
        return [one for one in as_scores("all", outputs, what="score") if one.objection(outputs) is None]
    return [allowed(one, outputs) for one in as_scores(score, outputs, what="score")]


def allowed(score: Score, outputs: Outputs, /) -> Score:
    """The score, if the outputs have what it needs."""
    if objection := score.objection(outputs):
        raise ValueError(f"`outputs` must have what {score.name} needs, got {objection}.")
    return score


def wide_at(risk: float, /) -> Objective:
    """The share of rows with a risk up to the target, and up to some lower and higher, which is less left to chance."""

    def objective(confidence: NDArray[np.float64], errors: NDArray[np.bool_]) -> float:
        sample = Sample.of(confidence, errors.astype(np.float64))
        ends = sample.ends
        risks = sample.totals[ends - 1] / ends
        return float(np.mean([np.max(ends[risks <= factor * risk], initial=0) for factor in FACTORS]))

    return objective


def low_risk_at(coverage: float, /) -> Objective:
    """Minus the errors among the most trusted share."""

    def objective(confidence: NDArray[np.float64], errors: NDArray[np.bool_]) -> float:
        sample = Sample.of(confidence, errors.astype(np.float64))
        return -float(sample.totals[max(0, round(coverage * len(sample)) - 1)])

    return objective
