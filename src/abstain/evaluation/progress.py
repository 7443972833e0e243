"""How long work tells what it is doing."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and the share that is done."""


def silent(_what: str, _share: float, /) -> None:
    """Nobody asked."""
