"""Parts that many sections have: names, tables, tiles and charts."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from abstain.report.page.document import environment
from abstain.report.page.text import Html

Tile = tuple[str, str, str, str]
"""A title, a value, what is below it, and the id by which a script finds it, or ""."""
Option = tuple[object, str, bool]
"""A value, what is shown, and whether it is chosen."""


@dataclass(frozen=True)
class TableCell:
    """What it shows, and the number it is sorted by where that is another."""

    content: str
    key: float | None = None


def name(words: object, /) -> Html:
    """The name of a class, sample or domain, in whatever script; a long one is cut and opens to the whole.

    >>> name("hospital <B>")
    '<bdi>hospital &lt;B&gt;</bdi>'
    """
    return _macro("name", words)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[TableCell]],
    /,
    *,
    caption: str,
    numbers: Collection[int],
    id: str = "",  # noqa: A002
    sortable: bool = True,
) -> Html:
    """A table that can be sorted by any column, the first cell of each row its header; ``id`` is for scripts.

    ``numbers`` are the indices of the columns that hold numbers.
    """
    return _macro("table", columns, rows, caption, numbers, id, sortable)


def chart(drawn: Any, /, *, height: int) -> dict[str, Any]:
    """The specification of an Altair chart: as wide as there is room, with the ink of the text, light or dark."""
    ink = {"labelColor": "currentColor", "titleColor": "currentColor"}
    lines = {f"{part}Color": "currentColor" for part in ("grid", "domain", "tick")}
    faint = {"gridOpacity": 0.12, "domainOpacity": 0.5, "tickOpacity": 0.5}
    sizes = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal", "titlePadding": 10}
    look = {
        "view": {"stroke": None},
        "axis": ink | lines | faint | sizes,
        "font": "system-ui, sans-serif",
        "background": None,
    }
    spec: dict[str, Any] = drawn.properties(width="container", height=height).to_dict()
    return spec | {"config": look, "autosize": {"type": "fit-x", "contains": "padding"}}


def _macro(macro: str, *values: Any) -> Html:
    return Html(getattr(environment().get_template("parts.html").module, macro)(*values))
