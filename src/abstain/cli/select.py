"""`abstain select`: decisions on outputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, final

import typer

from abstain.cli.inputs import check_in_memory, is_sharded
from abstain.cli.options import EngineOptions, Json, refuse
from abstain.cli.printing import print_json, say
from abstain.cli.progress import rows_bar

if TYPE_CHECKING:
    from abstain.scale import SelectionCounts
    from abstain.selector import ReviewPlan, Selector

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
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    outputs: Annotated[
        list[str], typer.Argument(help="Outputs to decide on, or many Parquet files; labels are not needed.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The .csv or .parquet file to write; a folder for many Parquet files.")
    ],
    engine: EngineOptions,
    review: ReviewOptions,
    json: Json = False,
) -> None:
    """Accept or reject each prediction. The table has id, prediction, confidence, accepted, reason and error.

    `reason` explains why a sample is rejected; `error` is there if the outputs have labels. Outputs without ids get
    ids made of a digest of the outputs and the row number.

    With --capacity and --audit the table also has the columns review (queue, overflow, audit), need (the position in
    the queue) and inclusion (the probability with which a label is asked for). Overflow stays rejected.

    Of many Parquet files each gets its own file of decisions in the folder; called again, the command continues where
    it stopped.

    Example: abstain select selector.abstain run/ -o decisions.csv
    """
    import abstain
    import abstain.scale

    loaded = abstain.Selector.load(selector)
    plan = review.plan()
    lines: list[str] = []
    if is_sharded(outputs, engine):
        refuse({"--capacity": review.capacity, "--audit": review.audit}, OF_REVIEW)
        execution = engine.execution()
        with rows_bar() as progress:
            counts = abstain.scale.select(loaded, outputs, output, execution=execution, progress=progress)
    else:
        check_in_memory(engine)
        counts, lines = _in_memory(loaded, Path(outputs[0]), Path(output), plan)
    if json:
        print_json({"n": counts.n, "accepted": counts.accepted, "decisions": output})
        return
    if counts.unseen:
        names = ", ".join(counts.unseen)
        say(f"Rejected {counts.unseen.total()} samples of groups that calibration did not contain: {names}.")
    wrong = "" if counts.wrong is None else f", {counts.wrong} of them wrong"
    say(f"Accepted {counts.accepted} of {counts.n} samples ({counts.accepted / counts.n:.1%}){wrong}.")
    for line in lines:
        say(line)
    say(f"Decisions: {output}")


def _in_memory(
    selector: "Selector", outputs: Path, output: Path, plan: "ReviewPlan | None"
) -> tuple["SelectionCounts", list[str]]:
    from collections import Counter

    import abstain
    from abstain.report.tables import COLUMNS, check_table, write_columns
    from abstain.scale import SelectionCounts

    check_table(output, COLUMNS)
    run = abstain.Outputs.load(outputs, nonfinite="reject", group=selector.group_column)
    decided = selector.decide(run)
    lines: list[str] = []
    if plan is not None:
        added = plan.columns(decided)
        lines = plan.words(added)
        decided |= added
    columns = {name: values.tolist() for name, values in decided.items()}
    to_fill = {} if plan is None or not plan.audit or "error" in columns else {"error": [None] * len(run)}
    write_columns(columns | to_fill, output)
    pairs = zip(columns.get("error", ()), columns["accepted"], strict=False)
    wrong = sum(wrong and accepted for wrong, accepted in pairs) if "error" in columns else None
    return SelectionCounts(len(run), sum(columns["accepted"]), wrong, Counter(selector.unseen(run))), lines
