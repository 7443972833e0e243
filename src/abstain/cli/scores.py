"""`abstain scores`: what there is to choose from."""

from typing import Annotated

import typer

from abstain.cli.letters import shown
from abstain.cli.show import print_json


def scores(json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """List the scores, their symbols in the paper, what each needs, and where it comes from.

    Example: abstain scores
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from abstain.scores import SCORES

    fields = ("name", "symbol", "family", "needs", "reference")
    if json:
        print_json({"scores": [{field: getattr(score, field) for field in fields} for score in SCORES.values()]})
        return
    console = Console()
    columns = fields if console.width >= 110 else ("name", "symbol", "needs", "reference")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for field in columns:
        table.add_column(field, no_wrap=field == "name")
    for score in SCORES.values():
        cells = {field: getattr(score, field) for field in fields} | {"needs": ", ".join(score.needs)}
        table.add_row(*(shown(cells[field]) for field in columns))
    console.print(table)
