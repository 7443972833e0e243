"""`abstain select`: decisions on outputs."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.options import Json
from abstain.cli.show import print_json


def select(
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    outputs: Annotated[Path, typer.Argument(help="Outputs to decide on; labels are not needed.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file to write.")],
    json: Json = False,
) -> None:
    """Decide for each sample whether to accept the prediction: id, prediction, confidence, accepted, reason, error.

    The reason says in words why a sample is rejected; the error is there if labels are.

    Where the outputs have no ids, rows get names that no other outputs have: a digest of these, and the row's number.

    Example: abstain select selector.abstain run/ -o decisions.csv
    """
    import abstain
    from abstain.report.table_file import COLUMNS, check_table, write_columns

    check_table(output, COLUMNS)
    chosen = abstain.Selector.load(selector)
    run = abstain.Outputs.load(outputs, nonfinite="reject")
    columns = {name: values.tolist() for name, values in chosen.decide(run).items()}
    write_columns(columns, output)
    accepted = sum(columns["accepted"])
    if json:
        print_json({"n": len(run), "accepted": accepted, "decisions": str(output)})
        return
    if unseen := chosen.unseen(run):
        names = ", ".join(unseen)
        print(f"{sum(unseen.values())} samples are of groups that calibration did not have, and rejected: {names}.")
    known = ""
    if "error" in columns:
        both = zip(columns["error"], columns["accepted"], strict=True)
        known = f", {sum(wrong and taken for wrong, taken in both)} of them wrong"
    print(f"Accepted {accepted} of {len(run)} samples ({accepted / len(run):.1%}){known}; decisions in {output}")
