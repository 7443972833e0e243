"""A part of a page."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Section:
    """A heading and what is below it; with scripts, the data they read."""

    name: str
    """Its anchor, and the name its scripts ask for its data by."""
    title: str
    html: str
    """What is below the heading, already escaped."""
    data: Any = None
    """What JSON can hold."""
    scripts: tuple[str, ...] = ()
    """Their text (`asset` reads it), run after what every page has."""
    draws: bool = False
    """Whether it has charts, for which the page gets Vega."""
