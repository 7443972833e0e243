"""`abstain scores`: the scores to choose from, and all about a single one."""

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain.cli.completion import score_names
from abstain.cli.options import Json
from abstain.cli.printing import print_json
from abstain.cli.terminal import shown

if TYPE_CHECKING:
    from abstain.scores import Score

WIDE = ("name", "symbol", "family", "needs", "reference", "summary")
COLUMNS = {170: WIDE, 110: WIDE[:5], 100: ("name", "symbol", "needs", "reference"), 0: ("name", "symbol", "needs")}
"""Columns by the width of the terminal, from so many characters on."""
NOTES = (
    "Options go in brackets: knn(k=5). Needs `fitting`: fitted on separate rows; `labels`: these rows are labelled.",
    "`abstain scores knn` shows all about one score, with its options.",
    "Not available: scores that need the network's gradients or a second forward pass (ODIN, GradNorm, AdaSCALE).",
)


def scores(
    name: Annotated[
        str | None, typer.Argument(help="A score to show all about. [list all]", autocompletion=score_names)
    ] = None,
    json: Json = False,
) -> None:
    """List the scores, or show all about one. The list has symbols of the paper, what each needs, and references.

    Example: abstain scores knn
    """
    from abstain.scores import SCORES, as_score

    rows = [_row(score) for score in ([*SCORES.values()] if name is None else [as_score(name, what="name")])]
    if json:
        print_json({"scores": rows})
    elif name is None:
        _print_list(rows)
    else:
        _print_score(rows[0])


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
    return [_plain(item) for item in value] if isinstance(value, tuple) else getattr(value, "name", value)


def _print_list(rows: list[dict[str, Any]]) -> None:
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
    for note in NOTES:
        console.print(note)


def _print_score(row: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    options = ", ".join(f"{option}={value}" for option, value in row["options"].items())
    table = Table.grid(padding=(0, 2, 0, 0))
    for field, value in (row | {"needs": ", ".join(row["needs"]), "options": options or "none"}).items():
        table.add_row(field, shown(str(value)))
    Console(markup=False, highlight=False).print(table)
