"""`abstain scores`: what there is to choose from, and what is known of one."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.complete import score_names
from abstain.cli.letters import shown
from abstain.cli.options import Json
from abstain.cli.show import print_json

if TYPE_CHECKING:
    from abstain.scores import Score

WIDE = ("name", "symbol", "family", "needs", "reference", "summary")
COLUMNS = {170: WIDE, 110: WIDE[:5], 100: ("name", "symbol", "needs", "reference"), 0: ("name", "symbol", "needs")}
"""What is shown on terminals from a width on."""


def scores(
    name: Annotated[
        str | None,
        typer.Argument(help="A score to tell all of; without one they are listed.", autocompletion=score_names),
    ] = None,
    json: Json = False,
) -> None:
    """List the scores, their symbols in the paper, what each needs, and where it comes from; or tell all of one.

    Example: abstain scores knn
    """
    from abstain.scores import SCORES, as_score

    rows = [_row(score) for score in ([*SCORES.values()] if name is None else [as_score(name, what="name")])]
    if json:
        print_json({"scores": rows})
    elif name is None:
        _list(rows)
    else:
        _tell(rows[0])


def _row(score: "Score") -> dict[str, Any]:
    return {
        "name": score.name,
        "symbol": score.symbol,
        "family": score.about.family,
        "needs": score.needs,
        "reference": score.about.reference,
        "summary": score.about.summary,
        "options": {field.name: _plain(getattr(score, field.name)) for field in fields(score)},  # type: ignore[arg-type]
    }


def _plain(value: Any) -> Any:
    """The value of an option, a score by its name."""
    return [_plain(one) for one in value] if isinstance(value, tuple) else getattr(value, "name", value)


def _list(rows: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    columns = next(names for width, names in COLUMNS.items() if console.width >= width)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for field in columns:
        table.add_column(field, no_wrap=field == "name")
    for row in rows:
        cells = row | {"needs": ", ".join(row["needs"])}
        table.add_row(*(shown(str(cells[field])) for field in columns))
    console.print(table)
    console.print("Options go in brackets: knn(k=5). `fitting`: fitted on rows of its own; `labels`: they have labels.")
    console.print("`abstain scores knn` tells all of one, with its options.")
    console.print("Not here: what takes the network's gradients or its input again, such as ODIN, GradNorm, AdaSCALE.")


def _tell(row: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    options = ", ".join(f"{option}={value}" for option, value in row["options"].items())
    table = Table.grid(padding=(0, 2, 0, 0))
    for field, value in (row | {"needs": ", ".join(row["needs"]), "options": options or "none"}).items():
        table.add_row(field, shown(str(value)))
    Console(markup=False, highlight=False).print(table)
