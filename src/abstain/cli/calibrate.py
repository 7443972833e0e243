"""`abstain calibrate`: outputs to a selector file."""

from pathlib import Path
from typing import Annotated

import typer

from abstain.cli.show import print_json


def calibrate(
    outputs: Annotated[Path, typer.Argument(help="Labelled outputs drawn like those to come.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The selector file to write.")],
    score: Annotated[
        str, typer.Option(help="The score to trust; `abstain evaluate` tells which.")
    ] = "confidence_margin",
    risk: Annotated[float | None, typer.Option(help="Largest share of errors among accepted samples.")] = None,
    coverage: Annotated[float | None, typer.Option(help="Smallest share of samples to accept.")] = None,
    cost: Annotated[float | None, typer.Option(help="Cost of rejecting a sample, where an error costs 1.")] = None,
    delta: Annotated[float, typer.Option(help="Probability with which the promise may fail.")] = 0.05,
    method: Annotated[str, typer.Option(help="fixed_sequence, sgr or bonferroni.")] = "fixed_sequence",
    seed: Annotated[int, typer.Option(help="Seed of the splits.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Choose a threshold with a guarantee and write a selector."""
    from dataclasses import asdict

    import abstain

    selector = abstain.calibrate(
        abstain.Outputs.load(outputs),
        score=score,
        risk=risk,
        coverage=coverage,
        cost=cost,
        delta=delta,
        method=method,
        seed=seed,
    )
    selector.save(output)
    if json:
        print_json({"selector": str(output), "score": selector.score, "threshold": asdict(selector.threshold)})
        return
    print(selector.summary())
    print(f"Go on with: abstain select {output} RUN -o decisions.csv")
