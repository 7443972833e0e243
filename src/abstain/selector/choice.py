"""Choose among scores on rows that the threshold does not see, so that the choice costs the promise nothing."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from abstain.metrics import aurc
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.draw import draw_rows
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import SHARE, FittingRows, fit_each, split_to_fit
from abstain.scores.registry import DEFAULT, AnyScore, as_scores
from abstain.scores.score import Score
from abstain.thresholds.sample import Sample

Objective = Callable[[NDArray[np.float64], NDArray[np.bool_]], float]


def best_score(
    scores: list[Score], outputs: Outputs, objective: Objective, /, *, seed: int
) -> tuple[Score, FittingRows, Outputs, list[str]]:
    """The best of the scores on a random fifth of the rows, these, the other rows, and the names of all tried.

    The chosen one can be fitted on the whole fifth.
    """
    if any(score.needs_fitting for score in scores):
        drawn, rest = split_to_fit(outputs, seed=seed)
    else:
        rng = outputs.generator("rows to choose a score on", seed)
        here = draw_rows(len(outputs), outputs.ids, size=SHARE * len(outputs), rng=rng)
        drawn, rest = FittingRows.all_alike(outputs.select(here)), outputs.select(~here)
    best, tried = best_on(scores, drawn.drawn, objective, seed=seed)
    return best, drawn, rest, tried


def best_on(scores: list[Score], rows: Outputs, objective: Objective, /, *, seed: int) -> tuple[Score, list[str]]:
    """The best of the scores on these rows, each half judging what was fitted on the other, and the names of all tried.

    One that cannot be fitted is left out.
    """
    rng = rows.generator("halves to judge scores on", seed)
    half = draw_rows(len(rows), rows.ids, size=len(rows) / 2, rng=rng)
    first, second = rows.select(half), rows.select(~half)
    found, other = _judged(scores, first, second, objective), _judged(scores, second, first, objective)
    both = {name: found[name] + other[name] for name in found if name in other}
    if not both:
        raise ValueError("`score` must name a score that can be fitted on these rows, got none. Give more rows.")
    best = max(both, key=lambda name: both[name])
    return next(score for score in scores if score.name == best), list(both)


def _judged(scores: list[Score], fitting: Outputs, rows: Outputs, objective: Objective) -> dict[str, float]:
    fitted, _ = fit_each(scores, FittingRows.within(fitting))
    found = confidences(rows, fitted) if fitted else {}
    return {name: objective(rejected_last(confidence), rows.errors) for name, confidence in found.items()}


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


def low_area(confidence: NDArray[np.float64], errors: NDArray[np.bool_], /) -> float:
    """Minus the AURC: of what was tried the least left to chance, whatever risk is asked for."""
    return -aurc(confidence, errors)


def low_risk_at(coverage: float, /) -> Objective:
    """Minus the errors among the most trusted share."""

    def objective(confidence: NDArray[np.float64], errors: NDArray[np.bool_]) -> float:
        sample = Sample.of(confidence, errors.astype(np.float64))
        return -float(sample.totals[max(0, round(coverage * len(sample)) - 1)])

    return objective
