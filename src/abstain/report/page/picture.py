"""A Matplotlib figure inside a page."""

from base64 import b64encode
from typing import Any

from abstain.report.figures.save import picture_bytes
from abstain.report.page.text import text


def picture(figure: Any, /, *, words: str) -> str:
    """The figure as an image that needs no other file; ``words`` are read out where it cannot be seen."""
    found = b64encode(picture_bytes(figure, ".svg")).decode()
    style = "width:100%;max-width:40rem;height:auto;background:#fff;border-radius:8px"
    return f'<img style="{style}" alt="{text(words)}" src="data:image/svg+xml;base64,{found}">'
