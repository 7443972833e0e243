"""`abstain scores`: the scores to choose from, and all about a single one."""

from dataclasses import fields
from typing import Annotated, Any

import typer

import abstain
from abstain.cli.completion import score_names
from abstain.cli.printing import Lines, Result, empty_table
from abstain.cli.terminal import shown

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
) -> Result:
    """List the scores, or show all about one. The list has symbols of the paper, what each needs, and references.

    Example: abstain scores knn
    """
    if name is not None:
        row = _row(abstain.scores.as_score(name, what="name"))
        return Result({"scores": [row]}, _score_lines(row))
    rows = [_row(score) for score in abstain.scores.SCORES.values()]
    return Result({"scores": rows}, _list_lines(rows))


def _row(score: "abstain.scores.Score") -> dict[str, Any]:
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


def _list_lines(rows: list[dict[str, Any]]) -> Lines:
    from rich.console import Console

    columns = next(names for width, names in COLUMNS.items() if Console().width >= width)
    table = empty_table()
    for field in columns:
        table.add_column(field, no_wrap=field == "name")
    for row in rows:
        cells = row | {"needs": ", ".join(row["needs"])}
        table.add_row(*(shown(str(cells[field])) for field in columns))
    yield table
    yield from NOTES


def _score_lines(row: dict[str, Any]) -> Lines:
    from rich.markup import escape
    from rich.table import Table

    options = ", ".join(f"{option}={value}" for option, value in row["options"].items())
    table = Table.grid(padding=(0, 2, 0, 0))
    for field, value in (row | {"needs": ", ".join(row["needs"]), "options": options or "none"}).items():
        table.add_row(field, escape(shown(str(value))))
    yield table
