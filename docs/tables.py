"""Writes the tables of scores, rules and commands into their pages, from the registries: python docs/tables.py."""

from collections.abc import Callable, Iterable
from pathlib import Path

from abstain.cli.app import command_functions
from abstain.cli.commands import command_rows
from abstain.scores import SCORES
from abstain.thresholds.methods import METHODS

HERE = Path(__file__).parent
Rows = Iterable[tuple[str, ...]]


def scores() -> Rows:
    """A row for each score."""
    yield "name", "symbol", "needs", "what it is", "reference"
    for score in SCORES.values():
        yield f"`{score.name}`", score.symbol, ", ".join(score.needs), score.about.summary, score.about.reference


def rules() -> Rows:
    """A row for each rule that a target can name as its method."""
    yield "method", "target", "what it does"
    for method in METHODS.values():
        yield f"`{method.name}`", method.target, method.summary


def commands() -> Rows:
    """An example of each command, and what it does."""
    yield "for example", "what it does"
    for example, text in command_rows(command_functions()):
        yield f"`{example}`", text


TABLES: dict[str, Callable[[], Rows]] = {"scores.md": scores, "thresholds.md": rules, "commands.md": commands}


def with_table(page: str, rows: Rows, /) -> str:
    """The page with its table of this head as it should be."""
    head, *body = (f"| {' | '.join(row)} |\n" for row in rows)
    rule = "|" + "---|" * (head.count("|") - 1) + "\n"
    before, own, rest = page.partition(head + rule)
    if not own:
        raise ValueError(f"The page must have a table with the head {head.strip()}.")
    lines = rest.splitlines(keepends=True)
    end = next((number for number, line in enumerate(lines) if not line.startswith("|")), len(lines))
    return before + head + rule + "".join(body) + "".join(lines[end:])


if __name__ == "__main__":
    for name, table in TABLES.items():
        file = HERE / name
        file.write_text(with_table(file.read_text(encoding="utf-8"), table()), encoding="utf-8")
