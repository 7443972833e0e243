"""Choose the scores that outputs allow, and fit them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.progress import Progress
from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.scores.fitting_draw import FittingRows, fit_each, rows_per_class, rows_to_fit
from abstain.scores.registry import AnyScore, as_scores
from abstain.scores.score import FittedScore, Score
from abstain.words import counted

Fitting = Outputs | Literal["fifth", "paper"]
"""Outputs to fit on, or the draw of some."""


def _a_fifth(outputs: Outputs, /, *, seed: int) -> tuple[FittingRows, NDArray[np.bool_]]:
    drawn = rows_to_fit(outputs, seed=seed)
    return FittingRows.within(outputs.select(drawn)), ~drawn


def _as_the_paper(outputs: Outputs, /, *, seed: int) -> tuple[FittingRows, NDArray[np.bool_]]:
    inside, kept = rows_per_class(outputs, seed=seed)
    return FittingRows.all_alike(outputs.select(inside)), kept


DRAWS = {"fifth": _a_fifth, "paper": _as_the_paper}


@dataclass
class FittedScores:
    """Scores that can be computed, fitted, and what became of the others."""

    outputs: Outputs
    """The rows that no score was fitted on."""
    places: NDArray[np.int64] | None = None
    """(n,) where these are among the rows given, None where all of them are kept."""
    entries: dict[str, Score] = field(default_factory=dict)
    fitted: dict[str, FittedScore] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def fit_scores(
    outputs: Outputs,
    scores: AnyScore | Iterable[AnyScore],
    fitting: Fitting | FittingRows,
    /,
    *,
    seed: int,
    progress: Progress,
) -> FittedScores:
    """Fit the scores asked for on a sample that is given, or else drawn from the outputs and left out for all alike.

    Rows that were drawn before, and are not among those to evaluate, are given as `FittingRows`.
    """
    if isinstance(fitting, str):
        check_name("fitting", fitting, DRAWS, rule="be outputs, 'fifth' or 'paper'")
    elif not isinstance(fitting, FittingRows):
        expect_outputs(fitting, name="fitting")
    found = FittedScores(outputs)
    chosen = _allowed(as_scores(scores, outputs), outputs, fitting, found.left_out)
    sample = FittingRows.all_alike(outputs)
    if any(score.needs_fitting for score in chosen):
        sample, found.places, note = _sample(outputs, fitting, seed)
        found.outputs = outputs if found.places is None else outputs.select(found.places)
        found.notes += note
    found.fitted, refused = fit_each(_told(chosen, progress), sample)
    found.entries = {score.name: score for score in chosen if score.name in found.fitted}
    found.left_out |= refused
    _check_some_left(found.fitted, found.left_out)
    return found


def _told(scores: list[Score], progress: Progress) -> Iterator[Score]:
    """Each score, once it is said that it comes."""
    for done, score in enumerate(scores):
        progress(f"Fitting {score.name}", done / len(scores))
        yield score


def _allowed(
    scores: list[Score], outputs: Outputs, fitting: Fitting | FittingRows, left_out: dict[str, str]
) -> list[Score]:
    """The scores that can be computed; the reason for each of the others goes to ``left_out``."""
    given = fitting.inside if isinstance(fitting, FittingRows) else fitting
    inside = (outputs.shift == "none") & outputs.usable
    samples = np.count_nonzero(np.bincount(outputs.samples[0][inside]))
    for score in scores:
        if objection := score.objection(outputs):
            left_out[score.name] = f"the outputs have {objection}"
        elif not score.needs_fitting:
            continue
        elif not isinstance(given, str) and (objection := score.objection(given)):
            left_out[score.name] = f"the fitting outputs have {objection}"
        elif fitting == "paper" and score.fits_on_shifted:
            left_out[score.name] = "it learns from rows of every kind, and the draw of the paper is in-distribution"
        elif isinstance(fitting, str) and samples < 4:
            left_out[score.name] = "there are too few in-distribution samples to fit it on; give fitting outputs"
    found = [score for score in scores if score.name not in left_out]
    _check_some_left(found, left_out)
    return found


def _sample(
    outputs: Outputs, fitting: Fitting | FittingRows, seed: int
) -> tuple[FittingRows, NDArray[np.int64] | None, list[str]]:
    """Rows to fit on, where rows to evaluate on are if not everywhere, and what there is to say of them."""
    if isinstance(fitting, FittingRows):
        return fitting, None, []
    if not isinstance(fitting, str):
        shared = _shared_ids(fitting, outputs)
        words = f"Careful: {shared} ids are in the fitting sample and in the evaluation; are they the same samples?"
        return FittingRows.all_alike(fitting), None, [words] if shared else []
    sample, kept = DRAWS[fitting](outputs, seed=seed)
    places = np.flatnonzero(kept)
    return sample, places, [drawn_words(len(sample.inside), len(outputs) - len(places))]


def drawn_words(inside: int, drawn: int, /) -> str:
    """What there is to say of a draw of which some rows are in-distribution."""
    if drawn == inside:
        return f"{counted(inside, 'row')} were drawn to fit scores on, and left out of the evaluation."
    return (
        f"{counted(drawn, 'row')} were drawn and left out of the evaluation: {inside:,} in-distribution ones, to fit "
        f"scores on, and {drawn - inside:,} that show the same samples or were drawn with them."
    )


def _check_some_left(scores: Collection[Any], left_out: dict[str, str]) -> None:
    if not scores:
        name, reason = next(iter(left_out.items()))
        raise ValueError(
            f"`scores` must name a score that can be computed, got only {', '.join(left_out)}; {name}: {reason}."
        )


def _shared_ids(one: Outputs, other: Outputs) -> int:
    if one.ids is None or other.ids is None or one.ids.dtype.kind != other.ids.dtype.kind:
        return 0
    return len(np.intersect1d(one.ids, other.ids))
