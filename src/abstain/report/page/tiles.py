"""Numbers side by side."""

from abstain.report.page.text import text


def tiles(*each: tuple[str, str, str] | tuple[str, str, str, str]) -> str:
    """What each is, its value and what is below it; and the id by which a script finds it, if one does.

    >>> tiles(("Rows", "20", "all of them"))
    '<dl class="tiles"><div><dt>Rows</dt><dd>20</dd><dd class="under">all of them</dd></div></dl>'
    """
    return f'<dl class="tiles">{"".join(_tile(*one) for one in each)}</dl>'


def _tile(title: str, value: str, under: str, name: str = "") -> str:
    shown, below = (f' id="{name}"', f' id="{name}-under"') if name else ("", "")
    return f'<div><dt>{text(title)}</dt><dd{shown}>{text(value)}</dd><dd class="under"{below}>{text(under)}</dd></div>'
