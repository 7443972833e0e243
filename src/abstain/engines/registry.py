"""Every engine by name, each started in the same way."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from abstain.engines.engine import Engine
from abstain.engines.local import LocalEngine
from abstain.engines.ray import RayEngine
from abstain.names import check_name

Start = Callable[..., AbstractContextManager[Engine]]

ENGINES: dict[str, Start] = {"local": LocalEngine.started, "ray": RayEngine.started}
"""How each engine is started, by name: local (threads of this machine) and ray (a cluster)."""


def started(name: str, /, *, workers: int | None = None, address: str | None = None) -> AbstractContextManager[Engine]:
    """The engine of this name, for the time of a with block."""
    check_name("engine", name, ENGINES)
    if workers is not None and workers < 1:
        raise ValueError(f"`workers` must be at least 1, got {workers}.")
    return ENGINES[name](workers=workers, address=address)
