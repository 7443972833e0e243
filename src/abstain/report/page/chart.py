"""Charts in the look of the page."""

from typing import Any


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
