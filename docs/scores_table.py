"""Writes the table of docs/scores.md from the registry of scores: python docs/scores_table.py."""

from pathlib import Path

from abstain.scores import SCORES

PAGE = Path(__file__).parent / "scores.md"
HEAD = "| name | symbol | needs | what it is | reference |\n|---|---|---|---|---|\n"


def table() -> str:
    """A row for each score."""
    rows = (
        (f"`{score.name}`", score.symbol, ", ".join(score.needs), score.about.summary, score.about.reference)
        for score in SCORES.values()
    )
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def with_table(page: str) -> str:
    """The page with the table as it should be."""
    before, rest = page.split(HEAD)
    return before + table() + rest[rest.index("\n\n") + 1 :]


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
