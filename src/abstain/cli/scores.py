"""`abstain scores`: what there is to choose from."""

from typing import Annotated

import typer

from abstain.cli.show import print_json


def scores(json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the scores, their symbols in the paper, what each needs, and where it comes from."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from abstain.scores import SCORES

    fields = ("name", "symbol", "family", "needs", "reference")
    if json:
        print_json({"scores": [{field: getattr(score, field) for field in fields} for score in SCORES.values()]})
        return
    table = Table(*fields, box=box.SIMPLE_HEAD)
    for score in SCORES.values():
        table.add_row(score.name, score.symbol, score.family, ", ".join(score.needs), score.reference)
    Console().print(table)
