"""Choose the scores that outputs allow, and fit them."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, final, get_args

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain._text import counted
from abstain.evaluation.mixes import Mix
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.scores.fitting_draw import FittingRows, fit_each, rows_per_class, rows_to_fit
from abstain.scores.registry import AnyScore, as_scores
from abstain.scores.score import FittedScore, Score

DrawKind = Literal["fifth", "paper"]
Progress = Callable[[str, float], None]
"""Called with what is being done and the share that is done."""


def silent(_what: str, _share: float, /) -> None:
    """Report no progress."""


@final
@dataclass(frozen=True)
class FittingDraw:
    """A draw of rows to fit scores on, which are then left out of the evaluation.

    Parameters
    ----------
    kind : {"fifth", "paper"}
        A fifth of the samples, at most 20,000, as `calibrate` draws; or five times as many in-distribution rows as
        classes, as the paper did.
    seed : int
        Another seed draws other rows.
    """

    kind: DrawKind = "fifth"
    seed: int = 0


Fitting = Outputs | FittingDraw | DrawKind
"""Outputs to fit on, or the draw of some; a name is that of a draw with seed 0."""
Sample = Outputs | FittingDraw | FittingRows
Named = TypeVar("Named", Score, Mix)


@dataclass
class FittedScores:
    """Scores that can be computed, fitted, and what became of the others."""

    outputs: Outputs
    """The rows that no score was fitted on."""
    indices: NDArray[np.int64] | None = None
    """(n,) their indices among the rows given, None where all of them are kept."""
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
    progress: Progress,
) -> FittedScores:
    """Fit the scores asked for on a sample that is given, or else drawn from the outputs and left out for all alike.

    Rows that were drawn before, and are not among those to evaluate, are given as `FittingRows`.
    """
    if isinstance(fitting, str):
        fitting = FittingDraw(fitting)
    if isinstance(fitting, FittingDraw):
        check_name("fitting", fitting.kind, get_args(DrawKind), rule="be outputs, 'fifth' or 'paper'")
    elif not isinstance(fitting, FittingRows):
        expect_outputs(fitting, name="fitting")
    fits = FittedScores(outputs)
    chosen = _allowed(as_scores(scores, outputs), outputs, fitting, fits.left_out)
    sample = FittingRows.all_alike(outputs)
    if any(score.needs_fitting for score in chosen):
        sample, fits.indices, note = _sample(outputs, fitting)
        fits.outputs = outputs if fits.indices is None else outputs.select(fits.indices)
        fits.notes += note
    fits.fitted, refused = fit_each(announced(chosen, "Fitting", progress), sample)
    fits.entries = {score.name: score for score in chosen if score.name in fits.fitted}
    fits.left_out |= refused
    _check_some_left(fits.fitted, fits.left_out)
    return fits


def announced(each: list[Named], what: str, progress: Progress, /, *, begin: float = 0.0) -> Iterator[Named]:
    """Each item, after a report that it is next."""
    for done, item in enumerate(each):
        progress(f"{what} {item.name}", begin + (1 - begin) * done / len(each))
        yield item


def _allowed(scores: list[Score], outputs: Outputs, fitting: Sample, left_out: dict[str, str]) -> list[Score]:
    """The scores that can be computed; the reason for each of the others goes to ``left_out``."""
    given = fitting.inside if isinstance(fitting, FittingRows) else fitting
    inside = (outputs.shift == "none") & outputs.usable
    samples = np.count_nonzero(np.bincount(outputs.samples[0][inside]))
    for score in scores:
        if objection := score.objection(outputs):
            left_out[score.name] = f"the outputs have {objection}"
        elif not score.needs_fitting:
            continue
        elif isinstance(given, Outputs) and (objection := score.objection(given)):
            left_out[score.name] = f"the fitting outputs have {objection}"
        elif isinstance(fitting, FittingDraw) and fitting.kind == "paper" and score.fits_on_shifted:
            left_out[score.name] = "it learns from rows of every kind, and the draw of the paper is in-distribution"
        elif isinstance(fitting, FittingDraw) and samples < 4:
            left_out[score.name] = "there are too few in-distribution samples to fit it on; give fitting outputs"
    allowed = [score for score in scores if score.name not in left_out]
    _check_some_left(allowed, left_out)
    return allowed


def _sample(outputs: Outputs, fitting: Sample) -> tuple[FittingRows, NDArray[np.int64] | None, list[str]]:
    """The rows to fit on, the indices of those to evaluate on (None for all), and notes on them."""
    if isinstance(fitting, FittingRows):
        return fitting, None, []
    if isinstance(fitting, Outputs):
        shared = _shared_ids(fitting, outputs)
        words = f"Careful: {shared} ids are in the fitting sample and in the evaluation; are they the same samples?"
        return FittingRows.all_alike(fitting), None, [words] if shared else []
    if fitting.kind == "paper":
        inside, kept = rows_per_class(outputs, seed=fitting.seed)
        sample = FittingRows.all_alike(outputs.select(inside))
    else:
        drawn = rows_to_fit(outputs, seed=fitting.seed)
        sample, kept = FittingRows.within(outputs.select(drawn)), ~drawn
    indices = np.flatnonzero(kept)
    return sample, indices, [drawn_words(len(sample.inside), len(outputs) - len(indices))]


def drawn_words(inside: int, drawn: int, /) -> str:
    """A note on a draw that has in-distribution rows."""
    if drawn == inside:
        return f"{counted(inside, 'row')} were drawn to fit scores on, and left out of the evaluation."
    return (
        f"{counted(drawn, 'row')} were drawn and left out of the evaluation: {inside:,} in-distribution ones, to fit "
        f"scores on, and {drawn - inside:,} that show the same samples or were drawn with them."
    )


def _check_some_left(scores: Collection[Any], left_out: dict[str, str]) -> None:
    if not scores:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise InvalidInputError(f"`scores` must have one that these outputs allow, got {reasons}.")


def _shared_ids(fitting: Outputs, evaluated: Outputs) -> int:
    if fitting.ids is None or evaluated.ids is None or fitting.ids.dtype.kind != evaluated.ids.dtype.kind:
        return 0
    return len(np.intersect1d(fitting.ids, evaluated.ids))
