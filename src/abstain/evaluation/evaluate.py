"""`evaluate`: compare scores on labelled outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from abstain._errors import InvalidInputError
from abstain.evaluation.chance_level import suspicion_of
from abstain.evaluation.evaluation import Evaluation
from abstain.evaluation.extra_metrics import Asked, as_metrics, metric_rows
from abstain.evaluation.fitting import Fitting, FittingDraw, Progress, announced, fit_scores, silent
from abstain.evaluation.mixes import mixes_of
from abstain.evaluation.score_comparison import Ranked, compared
from abstain.evaluation.score_table import MetricRow
from abstain.metrics.intervals import ALPHAS, check_alphas
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs
from abstain.outputs.validation import unlabelled
from abstain.scores.confidences import confidences
from abstain.scores.registry import AnyScore

HEAD_ROWS = 1000  # enough to see whether the head makes the logits


def evaluate(
    outputs: Outputs,
    /,
    *,
    scores: AnyScore | Iterable[AnyScore] = "all",
    alphas: Sequence[float] = ALPHAS,
    metrics: str | Iterable[str] = (),
    fitting: Fitting = "fifth",
    level: float = 0.95,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare scores on labelled outputs: AURC-α with standard errors and intervals, in each mix of shifts.

    Use it to choose a confidence score. Scores that lack an input are left out, with the reason.

    Parameters
    ----------
    outputs : Outputs
        With labels, errors or losses.
    scores : str, score, function or several of them
        Names (``"knn"``, ``"knn(k=5)"``, or of a confidence given with the outputs), score objects, or functions from
        outputs to confidence.
    alphas : sequence of float
        The coverages α of AURC-α.
    metrics : str or several
        Extra metrics by name, such as ``"augrc"``, ``"coverage_at_risk(risk=0.02)"`` or ``"all"``.
    fitting : Outputs, FittingDraw, "fifth" or "paper"
        What to fit scores on: outputs, or a draw of rows, which are then left out for all scores.
    level : float
        Of the intervals.
    progress : function, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Evaluation
        In every column the best score is marked, and those that a paired interval cannot call worse.

    Examples
    --------
    >>> from abstain.datasets import digits
    >>> evaluation = evaluate(digits(), scores=["max_softmax", "energy"])
    >>> evaluation.best("in", alpha=1.0).score
    'max_softmax'
    """
    _check(outputs, alphas)
    asked, report = as_metrics(metrics), progress or silent
    fits = fit_scores(outputs, scores, fitting, progress=lambda what, share: report(what, 0.2 * share))
    report("Scoring", 0.2)
    confidence = confidences(fits.outputs, fits.fitted)
    about_scores = [note for name, fitted in fits.fitted.items() if (note := fitted.note(confidence[name]))]
    mixes, dropped = mixes_of(fits.outputs)
    ranked = Ranked.of(fits.outputs, confidence)
    tables, extra = [], list[MetricRow]()
    for mix in announced(mixes, "Comparing scores on", report, begin=0.4):
        tables.append(compared(ranked, mix, alphas=alphas, level=level))
        extra += metric_rows(ranked, mix, asked, level=level)
    report("Done", 1.0)
    return Evaluation(
        n=len(fits.outputs),
        areas=tuple(area for areas, _ in tables for area in areas),
        behind={pair: difference for _, behind in tables for pair, difference in behind.items()},
        extra=tuple(extra),
        left_out=fits.left_out,
        notes=(*_notes_on(outputs), *fits.notes, *about_scores, *dropped, *_not_measured(metrics, asked, extra)),
        level=level,
        entries=fits.entries,
        alike=ranked.alike(),
        suspicion=suspicion_of(fits.outputs),
        confidence=confidence,
        outputs=fits.outputs,
        given=outputs,
        indices=fits.indices,
        seed=fitting.seed if isinstance(fitting, FittingDraw) else 0,
    )


def _not_measured(metrics: str | Iterable[str], asked: Asked, extra: list[MetricRow]) -> list[str]:
    """That a metric which was asked for by name is not defined on these rows."""
    named = {metrics} if isinstance(metrics, str) else set(metrics)
    missing = [name for name, _, _ in asked if name in named and all(row.metric != name for row in extra)]
    return [f"Left out: {', '.join(missing)}, not defined on these rows."] if missing else []


def _check(outputs: Outputs, alphas: Sequence[float]) -> None:
    expect_outputs(outputs)
    if not outputs.is_labelled:
        raise unlabelled("outputs", "to be evaluated")
    if not outputs.usable.any():
        raise InvalidInputError(f"`outputs` must have finite rows, got {len(outputs):,} rows, all of them non-finite.")
    check_alphas(alphas)


def _notes_on(outputs: Outputs) -> list[str]:
    """What a reader should know of the rows before anything is computed from them."""
    notes = []
    if not outputs.usable.all():
        notes.append(f"{np.count_nonzero(~outputs.usable)} non-finite rows count as rejected errors.")
    if (distinct := outputs.samples[1]) < len(outputs):
        notes.append(
            f"The {len(outputs)} rows show {distinct} distinct samples; standard errors count each sample once."
        )
    if outputs.source("features") is not None and outputs.weight is not None:
        rows = np.unique(np.linspace(0, len(outputs) - 1, HEAD_ROWS).astype(np.int64))
        if not (head := outputs.select(rows).check_head()).agrees:
            notes.append(f"Careful: {head}. Scores that use the head or the features may mislead.")
    return notes
