"""Data that other packages bring: where they are, or how to get them."""

from collections.abc import Sequence
from pathlib import Path


def installed(places: Sequence[Path], what: str, command: str, /) -> Path:
    """The first of the folders that is there; without any, an error with the command that brings it."""
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(
        f"The experiment must have {what} in {' or '.join(map(str, places))}, got none. Install it with: {command}"
    )
