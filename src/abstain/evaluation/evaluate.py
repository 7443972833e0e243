"""`evaluate`: compare scores on labelled outputs."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from abstain.arguments import check_list
from abstain.evaluation.compared import Behind, Ranked, compared
from abstain.evaluation.evaluation import Evaluation
from abstain.evaluation.fitting import Fitting, fit_scores
from abstain.evaluation.further import as_metrics, further_rows
from abstain.evaluation.guessing import suspicion_of
from abstain.evaluation.mixes import mixes_of
from abstain.evaluation.progress import Progress, silent
from abstain.metrics.checks import check_share
from abstain.metrics.intervals import ALPHAS
from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs
from abstain.outputs.unlabelled import unlabelled
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
    seed: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Compare scores on labelled outputs: AURC-α with standard errors and intervals, in each mix of shifts.

    ``scores`` are names (``"knn"``, ``"knn(k=5)"``, or of a confidence given with the outputs), score objects, or
    functions from outputs to confidence. In every column the best is marked, and those that a paired interval cannot
    call worse. Scores that lack an input are left out with the reason. Scores that need fitting get the outputs
    ``fitting``, or else a seeded draw that is then removed for all scores alike: a ``"fifth"`` of the samples, at
    most 20,000, as `calibrate` takes, or five in-distribution rows per class, as the ``"paper"`` did. ``progress``
    is called with what is being done and the share that is done.

    Further ``metrics`` by name, such as ``"augrc"``, ``"coverage_at_risk(risk=0.02)"``, ``"ood_auroc"`` or ``"all"`` of
    `abstain.metrics.METRICS`, are in ``evaluation.further``, in the mixes where each is defined.

    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(3, size=500)
    >>> logits = rng.normal(size=(500, 3)) + 2 * np.eye(3)[labels]
    >>> evaluation = evaluate(Outputs(logits=logits, labels=labels), scores=["max_softmax", "energy"])
    >>> best = evaluation.best("in", alpha=1.0)
    >>> best["score"], round(best["aurc"], 3)
    ('max_softmax', 0.021)
    """
    _check(outputs, alphas)
    asked = as_metrics(metrics)
    say = progress or silent
    notes = _notes_on(outputs)
    found = fit_scores(outputs, scores, fitting, seed=seed, progress=lambda what, share: say(what, 0.2 * share))
    notes += found.notes
    say("Scoring", 0.2)
    confidence = confidences(found.outputs, found.fitted)
    notes += [note for name, fitted in found.fitted.items() if (note := fitted.note(confidence[name]))]
    mixes, dropped = mixes_of(found.outputs)
    ranked = Ranked.of(found.outputs, confidence)
    rows: list[dict[str, Any]] = []
    further: list[dict[str, Any]] = []
    behind: Behind = {}
    for done, mix in enumerate(mixes):
        say(f"Comparing scores on {mix.name}", 0.4 + 0.6 * done / len(mixes))
        table, apart = compared(ranked, mix, alphas=alphas, level=level)
        rows += table
        behind |= apart
        further += further_rows(ranked, mix, asked, level=level)
    say("Done", 1.0)
    return Evaluation(
        rows=rows,
        behind=behind,
        further=further,
        left_out=found.left_out,
        notes=(*notes, *dropped),
        level=level,
        entries=found.entries,
        alike=ranked.alike(),
        suspicion=suspicion_of(found.outputs),
        confidence=confidence,
        outputs=found.outputs,
        given=outputs,
        places=found.places,
        seed=seed,
    )


def _check(outputs: Outputs, alphas: Sequence[float]) -> None:
    expect_outputs(outputs)
    if not outputs.is_labelled:
        raise unlabelled("outputs", "to be evaluated")
    if not outputs.usable.any():
        raise ValueError(f"`outputs` must have usable rows, got {len(outputs)} that are not finite.")
    check_list("alphas", alphas, "coverages")
    for alpha in alphas:
        check_share("alpha", alpha)
    if not len(alphas):
        raise ValueError("`alphas` must name at least one coverage, got none.")


def _notes_on(outputs: Outputs) -> list[str]:
    """What a reader should know of the rows before anything is computed from them."""
    notes = []
    if not outputs.usable.all():
        notes.append(f"{np.count_nonzero(~outputs.usable)} rows are not finite: they count as rejected errors.")
    if (distinct := outputs.samples[1]) < len(outputs):
        notes.append(
            f"The {len(outputs)} rows show {distinct} distinct samples; standard errors count each sample once."
        )
    if outputs.source("features") is not None and outputs.weight is not None:
        rows = np.unique(np.linspace(0, len(outputs) - 1, HEAD_ROWS).astype(np.int64))
        if not (head := outputs.select(rows).check_head()).agrees:
            notes.append(f"Careful: {head}. Scores that use the head or the features may mislead.")
    return notes
