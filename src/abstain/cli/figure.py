"""Figures as files: checked before the work that makes them, written whole."""

from pathlib import Path
from typing import Any

from abstain.files import check_goal, write_whole

ENDINGS = (".png", ".pdf", ".svg")


def check_figure(file: Path | None) -> None:
    """A figure can be written there, if one is asked for."""
    if file is None:
        return
    if file.suffix.lower() not in ENDINGS:
        raise ValueError(f"`--figure` must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, got {file}.")
    check_goal(file)


def write_figure(file: Path, figure: Any) -> None:
    """Draw into the file."""
    write_whole(file, figure.savefig)
