"""`abstain select`: decisions on outputs."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

import abstain
from abstain.cli.inputs import is_sharded, stage_outputs
from abstain.cli.options import DeciderFile, EngineOptions, Log, given, refuse
from abstain.cli.printing import Lines, Result
from abstain.cli.progress import rows_bar

if TYPE_CHECKING:
    from abstain.selector import ReviewPlan

OF_CASCADE = "be left out with a cascade, which decides on outputs in memory"
OF_REVIEW = "come with outputs in memory. Give one file or folder of outputs"


@final
@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """Which rows people look at."""

    capacity: Annotated[
        int | None, typer.Option(min=0, help="Rejected samples that can be reviewed: the least confident of them.")
    ] = None
    audit: Annotated[
        float | None, typer.Option(min=0, max=1, help="Probability with which an accepted sample is drawn for a check.")
    ] = None
    seed: Annotated[int, typer.Option(min=0, help="Seed of the audit.")] = 0

    def plan(self) -> "ReviewPlan | None":
        """What is to be reviewed; None if neither option is given."""
        from abstain.selector import ReviewPlan

        if self.capacity is None and self.audit is None:
            return None
        return ReviewPlan(capacity=self.capacity, audit=self.audit or 0.0, seed=self.seed)


def select(
    selector: DeciderFile,
    outputs: Annotated[
        list[str],
        typer.Argument(
            help="Outputs to decide on, of each model for a cascade, or many Parquet files; labels are not needed."
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The .csv or .parquet file to write; a folder for many Parquet files.")
    ],
    engine: EngineOptions,
    review: ReviewOptions,
    log: Log = None,
) -> Result:
    """Accept or reject each prediction. The table has id, prediction, confidence, accepted, reason and error.

    `reason` explains why a sample is rejected; `error`, or `loss`, is there if the outputs have labels.
    Outputs without ids get ids made of a digest of the outputs and the row number.

    With --capacity and --audit the table also has the columns review (queue, overflow, audit), need (the position in
    the queue) and inclusion (the probability with which a label is asked for). Overflow stays rejected.

    With --log each decision is also added to a log that `monitor`, `certify` and `recertify` read, with its time, its
    threshold and the digest of the selector; a decision that is in the log already is not added again.

    Of many Parquet files each gets its own file of decisions in the folder; called again, the command continues where
    it stopped.

    Example: abstain select selector.abstain run/ -o decisions.csv
    """
    from abstain.selector import load_selector

    loaded = load_selector(selector)
    plan = review.plan()
    lines: list[str] = []
    if isinstance(loaded, abstain.Cascade):
        refuse(given(engine), OF_CASCADE)
        counts, lines = _of_cascade(loaded, outputs, Path(output), plan, log)
    elif is_sharded(outputs, engine):
        refuse({"--capacity": review.capacity, "--audit": review.audit, "--log": log}, OF_REVIEW)
        execution = engine.execution()
        with rows_bar() as progress:
            counts = abstain.scale.select(loaded, outputs, output, execution=execution, progress=progress)
    else:
        counts, lines = _in_memory(loaded, Path(outputs[0]), Path(output), plan, log)
    document = {"n": counts.n, "accepted": counts.accepted, "decisions": output}
    return Result(document, [*_count_lines(counts), *lines, f"Decisions: {output}"])


def _count_lines(counts: "abstain.scale.SelectionCounts") -> Lines:
    if counts.unseen:
        names = ", ".join(counts.unseen)
        yield f"Rejected {counts.unseen.total()} samples of groups that calibration did not contain: {names}."
    wrong = "" if counts.wrong is None else f", {counts.wrong} of them wrong"
    if isinstance(counts.wrong, float):
        wrong = f", with a mean loss of {counts.wrong / max(counts.accepted, 1):.4g}"
    yield f"Accepted {counts.accepted} of {counts.n} samples ({counts.accepted / counts.n:.1%}){wrong}."


def _in_memory(
    selector: "abstain.Selector", outputs: Path, output: Path, plan: "ReviewPlan | None", log: Path | None
) -> tuple["abstain.scale.SelectionCounts", list[str]]:
    from abstain.report.tables import check_table

    check_table(output)
    run = abstain.Outputs.load(outputs, nonfinite="reject", group=selector.group_column)
    decided = selector.decide(run)
    outcome = "loss" if selector.threshold.guarantee.quantity.event == "loss" else "error"
    counts, lines = _written(decided, output, plan, outcome=outcome)
    if log is not None:
        lines.append(_logged(selector, log, decided | {"threshold": selector.values(run)}))
    counts.unseen = Counter(selector.unseen(run))
    return counts, lines


def _of_cascade(
    cascade: "abstain.Cascade", outputs: list[str], output: Path, plan: "ReviewPlan | None", log: Path | None
) -> tuple["abstain.scale.SelectionCounts", list[str]]:
    """The same by a cascade, on the outputs of its models; and who answers how many."""
    from abstain.report.tables import check_table

    check_table(output)
    rows = stage_outputs(cascade, outputs)
    decided = cascade.decide(rows)
    counts, lines = _written(decided, output, plan)
    if log is not None:
        lines.append(_logged(cascade, log, decided | {"threshold": cascade.selector.values(cascade.combined(rows))}))
    answers = Counter(decided["answered_by"].tolist())
    answered = ", ".join(f"{name} {answers[name]:,}" for name in (*cascade.names, "person"))
    return counts, [f"Answered by: {answered}.", *lines]


def _written(
    decided: dict[str, Any], output: Path, plan: "ReviewPlan | None", *, outcome: str = "error"
) -> tuple["abstain.scale.SelectionCounts", list[str]]:
    """Write the decisions, with those of a review; how many are accepted, and the words of the review.

    Where nothing is known of the outcomes, an audit gets a column to fill in, of errors or losses.
    """
    from abstain.report.tables import write_columns

    lines: list[str] = []
    if plan is not None:
        added = plan.columns(decided)
        lines = plan.words(added)
        decided |= added
    columns = {name: values.tolist() for name, values in decided.items()}
    n, known = len(columns["id"]), columns.get("error", columns.get("loss"))
    to_fill = {outcome: [None] * n} if plan is not None and plan.audit and known is None else {}
    write_columns(columns | to_fill, output)
    pairs = zip(known or (), columns["accepted"], strict=False)
    wrong = None if known is None else sum(wrong for wrong, accepted in pairs if accepted)
    return abstain.scale.SelectionCounts(n, sum(columns["accepted"]), wrong), lines


def _logged(selector: "abstain.Selector | abstain.Cascade", log: Path, decided: dict[str, Any]) -> str:
    """Add decisions to a log, and report how many are new."""
    from abstain.decision_log import DecisionLog

    columns = {name: values.tolist() for name, values in decided.items()}
    with DecisionLog(log, selector=selector.digest) as decisions:
        new = decisions.append(columns | {"id": list(map(str, columns["id"]))})
        decisions.sync()
        decisions.rotate()
    return f"Log: {log}, {len(new)} new decisions."
