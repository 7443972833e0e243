"""`sketch_outputs`: outputs counted into a sketch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from abstain.evaluation.fitting import Fitting, Progress, fit_scores, silent
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.outputs.validation import unlabelled
from abstain.scores.confidences import confidences
from abstain.scores.registry import AnyScore, as_scores
from abstain.scores.score import Score
from abstain.sketch import Bins, Plan, Sketch
from abstain.sketch.plan import By


def sketch_outputs(
    outputs: Outputs,
    /,
    *,
    scores: AnyScore | Iterable[AnyScore] | None = None,
    bins: Bins | Mapping[str, Bins] | int | None = None,
    by: tuple[By, ...] = ("shift",),
    distinct: bool = False,
    fitting: Fitting = "fifth",
    progress: Progress | None = None,
) -> Sketch:
    """The sketch of labelled outputs: rows and errors by bin of each score, kept apart by shift, domain or class.

    Parameters
    ----------
    outputs : Outputs
        With labels, errors or losses.
    scores : str, score, function or several of them, optional
        By default all that need no fitting. Others are fitted as `evaluate` does, and the rows they were fitted on are
        not counted.
    bins : Bins, mapping of score to Bins, or int, optional
        By default the first 20 bits of the confidence; an integer is a number of bins of equal mass, chosen on these
        rows.
    by : tuple of "shift", "domain" and "class"
        What is counted apart.
    distinct : bool
        Whether no id repeats, here or in sketches to be merged with: then every row is independent.
    fitting : Outputs, FittingDraw, "fifth" or "paper"
        As in `evaluate`.
    progress : function, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Sketch
        Counts that merge by ``+``.
    """
    expect_outputs(outputs)
    if not outputs.is_labelled:
        raise unlabelled("outputs", "to be counted")
    asked = plain_scores(outputs) if scores is None else scores
    fits = fit_scores(outputs, asked, fitting, progress=progress or silent)
    is_by_mass = isinstance(bins, int)
    if isinstance(bins, int):
        values = confidences(fits.outputs, fits.fitted)
        bins = {name: Bins.equal_mass(confidence, number=bins) for name, confidence in values.items()}
    pairs = {name: (fits.entries[name], fits.fitted[name]) for name in fits.fitted}
    plan = Plan.of(pairs, fits.outputs, bins=bins, by=by, distinct=distinct)
    sketch = Sketch.of_outputs(plan, fits.outputs)
    return sketch.with_fitted_bins() if is_by_mass else sketch


def plain_scores(outputs: Outputs, /) -> list[Score]:
    """The scores given with outputs, and all others that need no fitting and can be computed."""
    every = as_scores("all", outputs)
    return [score for score in every if not score.needs_fitting and not score.objection(outputs)] or every
