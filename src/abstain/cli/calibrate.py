"""`abstain calibrate`: outputs to a selector file."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.show import print_json


def calibrate(
    outputs: Annotated[Path, typer.Argument(help="Labelled outputs drawn like those to come.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The selector file to write.")],
    score: Annotated[
        str | None, typer.Option(help="The score to trust; `abstain evaluate` tells which. [confidence_margin]")
    ] = None,
    risk: Annotated[float | None, typer.Option(help="Largest share of errors among accepted samples.")] = None,
    coverage: Annotated[float | None, typer.Option(help="Smallest share of samples to accept.")] = None,
    cost: Annotated[
        str | None, typer.Option(help="Cost of rejecting, where an error costs 1; or one a true class: 0.1,0.5,…")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(help="A .csv with the cost of predicting (row) where it is (column), no header.")
    ] = None,
    unlabelled: Annotated[
        Path | None, typer.Option(help="Further outputs without labels: they raise the coverage at a target risk.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Probability with which the promise may fail.")] = 0.05,
    method: Annotated[
        str | None, typer.Option(help="fixed_sequence, sgr, bonferroni; with a cost: minimal_cost, chow.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Choose a threshold with a guarantee and write a selector."""
    from dataclasses import asdict

    import abstain

    selector = abstain.calibrate(
        abstain.Outputs.load(outputs, nonfinite="reject"),
        score=score,
        risk=risk,
        coverage=coverage,
        cost=_numbers(cost),
        costs=_table(costs),
        delta=delta,
        method=method,
        unlabelled=None if unlabelled is None else abstain.Outputs.load(unlabelled, nonfinite="reject"),
        seed=seed,
    )
    selector.save(output)
    if json:
        print_json({"selector": str(output), "score": selector.score, "threshold": asdict(selector.threshold)})
        return
    print(selector.summary())
    print(f"Go on with: abstain select {output} RUN -o decisions.csv")


def _numbers(text: str | None) -> float | list[float] | None:
    if text is None:
        return None
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"`--cost` must be a number, or one a class such as 0.1,0.5,0.3, got {text!r}.") from None
    return found[0] if len(found) == 1 else found


def _table(file: Path | None) -> list[list[float]] | None:
    if file is None:
        return None
    with open(file, newline="", encoding="utf-8") as stream:
        try:
            rows = [[float(cell) for cell in row] for row in csv.reader(stream) if row]
        except ValueError as error:
            raise ValueError(f"`--costs` must hold numbers only, got {error}.") from None
    if len({len(row) for row in rows}) != 1:
        raise ValueError("`--costs` must have rows of one length, got others or none.")
    return rows
