"""Choose among scores on rows that the threshold does not see, so that the choice costs the guarantee nothing."""

from collections.abc import Sequence
from math import hypot

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain.metrics import aurc, compare
from abstain.metrics.aurc import lowest
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.rows import draw_rows
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import SHARE, FittingRows, fit_each, split_to_fit
from abstain.scores.registry import DEFAULT, SCORES, AnyScore, as_scores, default_score
from abstain.scores.score import Score

Scores = AnyScore | Sequence[AnyScore]
"""A name such as ``"knn(k=5)"``, a score, a function of outputs, or several of these."""
AHEAD = 1.0  # standard errors by which a score must be ahead of the first to be taken in its place


def best_score(
    scores: list[Score], outputs: Outputs, /, *, alpha: float, seed: int
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
    best, tried = best_on(scores, drawn.drawn, alpha=alpha, seed=seed)
    return best, drawn, rest, tried


def best_on(scores: list[Score], rows: Outputs, /, *, alpha: float = 1.0, seed: int) -> tuple[Score, list[str]]:
    """The score of lowest AURC-α on these rows, each half judging what was fitted on the other, and all tried.

    The first is taken where the lowest is not ahead of it by a standard error: of many scores some look
    good by chance. One that cannot be fitted is left out.
    """
    rng = rows.generator("halves to judge scores on", seed)
    half = draw_rows(len(rows), rows.ids, size=len(rows) / 2, rng=rng)
    parts = [(rows.select(half), rows.select(~half)), (rows.select(~half), rows.select(half))]
    judged = [(_confidences(scores, *part), part[1]) for part in parts]
    tried = [score for score in scores if all(score.name in confidence for confidence, _ in judged)]
    if not tried:
        raise InvalidInputError("`score` must name a score that can be fitted on these rows, got none. Give more rows.")
    areas = [
        sum(aurc(confidence[score.name], part.outcomes, alpha=alpha) for confidence, part in judged) for score in tried
    ]
    first, best = tried[0], tried[lowest(areas)]
    chosen = best if _is_ahead(best, first, judged, alpha) else first
    return chosen, [score.name for score in tried]


def _confidences(scores: list[Score], fitting: Outputs, rows: Outputs) -> dict[str, Floats]:
    if ((fitting.shift == "none") & fitting.usable).any():
        fitting_rows = FittingRows.within(fitting)
    else:
        scores = [score for score in scores if score.fits_on_shifted or not score.needs_fitting]
        fitting_rows = FittingRows.all_alike(fitting)
    fitted, _ = fit_each(scores, fitting_rows)
    values = confidences(rows, fitted) if fitted else {}
    return {name: rejected_last(confidence) for name, confidence in values.items()}


def _is_ahead(best: Score, first: Score, judged: list[tuple[dict[str, Floats], Outputs]], alpha: float) -> bool:
    if best is first:
        return True
    apart = [
        compare(confidence[first.name], confidence[best.name], part.outcomes, alpha=alpha, ids=part.ids)
        for confidence, part in judged
    ]
    return sum(each.difference for each in apart) > AHEAD * hypot(*(each.se for each in apart))


def candidates(score: Scores | None, outputs: Outputs, /) -> list[Score]:
    """The scores to choose among, all of which the outputs allow; one where there is nothing to choose."""
    if score is None:
        score = default_score((*outputs.confidence_names, *([DEFAULT] if outputs.n_classes else [])))
    if score == "best":
        every = ("all", *(name for name, entry in SCORES.items() if entry.on_request))
        return [entry for entry in as_scores(every, outputs, what="score") if entry.objection(outputs) is None]
    return [allowed(entry, outputs) for entry in as_scores(score, outputs, what="score")]


def allowed(score: Score, outputs: Outputs, /) -> Score:
    """The score, if the outputs have what it needs."""
    if objection := score.objection(outputs):
        raise InvalidInputError(f"`outputs` must have what {score.name} needs, got {objection}.")
    return score
