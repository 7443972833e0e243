"""`abstain select`: decisions on outputs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from abstain.cli.inputs import check_in_memory, is_sharded
from abstain.cli.options import EngineOptions, Json
from abstain.cli.printing import print_json, say
from abstain.cli.progress import rows_bar

if TYPE_CHECKING:
    from abstain.scale import SelectionCounts
    from abstain.selector import Selector


def select(
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    outputs: Annotated[
        list[str], typer.Argument(help="Outputs to decide on, or many Parquet files; labels are not needed.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="The .csv or .parquet file to write; a folder for many Parquet files.")
    ],
    engine: EngineOptions,
    json: Json = False,
) -> None:
    """Accept or reject each prediction. The table has id, prediction, confidence, accepted, reason and error.

    `reason` explains why a sample is rejected; `error` is there if the outputs have labels. Outputs without ids get
    ids made of a digest of the outputs and the row number.

    Of many Parquet files each gets its own file of decisions in the folder; called again, the command continues where
    it stopped.

    Example: abstain select selector.abstain run/ -o decisions.csv
    """
    import abstain
    import abstain.scale

    loaded = abstain.Selector.load(selector)
    if is_sharded(outputs, engine):
        execution = engine.execution()
        with rows_bar() as progress:
            counts = abstain.scale.select(loaded, outputs, output, execution=execution, progress=progress)
    else:
        check_in_memory(engine)
        counts = _in_memory(loaded, Path(outputs[0]), Path(output))
    if json:
        print_json({"n": counts.n, "accepted": counts.accepted, "decisions": output})
        return
    if counts.unseen:
        names = ", ".join(counts.unseen)
        say(f"Rejected {counts.unseen.total()} samples of groups that calibration did not contain: {names}.")
    wrong = "" if counts.wrong is None else f", {counts.wrong} of them wrong"
    say(f"Accepted {counts.accepted} of {counts.n} samples ({counts.accepted / counts.n:.1%}){wrong}.")
    say(f"Decisions: {output}")


def _in_memory(selector: "Selector", outputs: Path, output: Path) -> "SelectionCounts":
    from collections import Counter

    import abstain
    from abstain.report.tables import COLUMNS, check_table, write_columns
    from abstain.scale import SelectionCounts

    check_table(output, COLUMNS)
    run = abstain.Outputs.load(outputs, nonfinite="reject", group=selector.group_column)
    columns = {name: values.tolist() for name, values in selector.decide(run).items()}
    write_columns(columns, output)
    pairs = zip(columns.get("error", ()), columns["accepted"], strict=False)
    wrong = sum(wrong and accepted for wrong, accepted in pairs) if "error" in columns else None
    return SelectionCounts(len(run), sum(columns["accepted"]), wrong, Counter(selector.unseen(run)))
