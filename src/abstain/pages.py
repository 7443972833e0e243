"""Who draws the page of a result: results ask here, and `abstain/__init__.py`, which knows every part, answers."""

from importlib import import_module
from typing import Any

DRAWN_BY: dict[str, str] = {}
"""By the public name of a result, the module whose ``write_page(result, file)`` draws it; empty in this file."""


def page_of(name: str, /) -> Any:
    """The module that draws results of this name, imported when the first of them asks."""
    return import_module(DRAWN_BY[name])
