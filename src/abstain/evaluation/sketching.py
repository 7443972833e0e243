"""`sketch_outputs`: the counts of outputs by score, for files that merge."""

from collections.abc import Iterable, Mapping

from abstain.evaluation.fitting import Fitting, fit_scores
from abstain.evaluation.progress import Progress, silent
from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.outputs.unlabelled import unlabelled
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
    bins: Bins | Mapping[str, Bins] | None = None,
    equal_mass: int | None = None,
    by: tuple[By, ...] = ("shift",),
    distinct: bool = False,
    fitting: Fitting = "fifth",
    seed: int = 0,
    progress: Progress | None = None,
) -> Sketch:
    """The sketch of labelled outputs: rows and errors by bin of each score, kept apart ``by`` shift, domain or class.

    ``scores`` are by default all that need no fitting; others are fitted as `evaluate` does, and the rows they were
    fitted on are not counted. Bins are the first 20 bits of the confidence, others that are given, or, with
    ``equal_mass``, so many of as many rows each, chosen on these rows. Rows with ids may show a sample twice, here or
    in sketches to be merged with, unless ``distinct`` says that no id repeats: then every row is independent.
    """
    expect_outputs(outputs)
    if not outputs.is_labelled:
        raise unlabelled("outputs", "to be counted")
    asked = plain_scores(outputs) if scores is None else scores
    found = fit_scores(outputs, asked, fitting, seed=seed, progress=progress or silent)
    if equal_mass is not None:
        values = confidences(found.outputs, found.fitted)
        bins = {name: Bins.equal_mass(one, number=equal_mass) for name, one in values.items()}
    pairs = {name: (found.entries[name], found.fitted[name]) for name in found.fitted}
    plan = Plan.of(pairs, found.outputs, bins=bins, by=by, distinct=distinct)
    sketch = Sketch.of_outputs(plan, found.outputs)
    return sketch if equal_mass is None else sketch.with_fitted_bins()


def plain_scores(outputs: Outputs, /) -> list[Score]:
    """The scores given with outputs, and all others that need no fitting and can be computed."""
    every = as_scores("all", outputs)
    return [one for one in every if not one.needs_fitting and not one.objection(outputs)] or every
