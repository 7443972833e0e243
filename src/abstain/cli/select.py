"""`abstain select`: decisions on outputs."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.show import print_json


def select(
    selector: Annotated[Path, typer.Argument(help="A selector file.")],
    outputs: Annotated[Path, typer.Argument(help="Outputs to decide on; labels are not needed.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A .csv or .parquet file to write.")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Decide for each sample whether to accept the prediction: id, prediction, confidence, accepted."""
    import numpy as np

    import abstain
    from abstain.extras import require

    if output.suffix not in (".csv", ".parquet"):
        raise ValueError(f"`--output` must end in .csv or .parquet, got {output.name}.")
    chosen = abstain.Selector.load(selector)
    run = abstain.Outputs.load(outputs, nonfinite="reject")
    confidence = chosen.confidence(run)
    columns = {
        "id": (np.arange(len(run)) if run.ids is None else run.ids).tolist(),
        "prediction": chosen.predictions(run).tolist(),
        "confidence": confidence.tolist(),
        "accepted": chosen.threshold.accepts(confidence).tolist(),
    }
    partial = output.with_name(f".{output.name}.partial")
    if output.suffix == ".parquet":
        require("polars", extra="scale", feature="Writing Parquet").DataFrame(columns).write_parquet(partial)
    else:
        with open(partial, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
    partial.replace(output)
    accepted = int(np.sum(columns["accepted"]))
    if json:
        print_json({"n": len(run), "accepted": accepted, "decisions": str(output)})
        return
    print(f"Accepted {accepted} of {len(run)} samples ({accepted / len(run):.1%}); decisions in {output}")
