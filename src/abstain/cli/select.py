"""`abstain select`: decisions on outputs."""

import csv
from pathlib import Path
from typing import Annotated, Any

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
    from abstain.files import check_goal, write_whole

    if output.suffix not in (".csv", ".parquet"):
        raise ValueError(f"`--output` must end in .csv or .parquet, got {output.name}.")
    check_goal(output)
    chosen = abstain.Selector.load(selector)
    run = abstain.Outputs.load(outputs, nonfinite="reject")
    columns = {name: values.tolist() for name, values in chosen.decide(run).items()}
    write_whole(output, lambda partial: _write(partial, columns))
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


def _write(file: Path, columns: dict[str, list[Any]]) -> None:
    from abstain.extras import require

    if file.suffix == ".parquet":
        require("polars", extra="scale", feature="Writing Parquet").DataFrame(columns).write_parquet(file)
        return
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
