"""The engines by name: threads of this machine, and a Ray cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, final

from abstain._errors import InvalidInputError
from abstain._kernels.blocks import alone, usable_cores
from abstain._names import check_name
from abstain.scale.engine import Engine
from abstain.scale.ray import ray_engine


@contextmanager
def local_engine(*, workers: int | None, address: str | None) -> Iterator[Engine]:
    """Threads of this process: as many as there are workers, or cores."""
    if address is not None:
        raise InvalidInputError(
            f"`address` must be left out with the engine `local`, got {address!r}. Did you mean `ray`?"
        )
    threads = workers or usable_cores()
    with ThreadPoolExecutor(threads) as pool:
        yield Engine(
            lambda work: lambda item: pool.submit(alone, work, item), Future.result, Future.cancel, 2 * threads
        )


Start = Callable[..., AbstractContextManager[Engine]]

ENGINES: dict[str, Start] = {"local": local_engine, "ray": ray_engine}
"""How each engine is started, by name: local (threads of this machine) and ray (a cluster)."""


@final
@dataclass(frozen=True)
class Execution:
    """Where files are read, and on which engine.

    Parameters
    ----------
    engine : str
        A name of `ENGINES`: ``"local"`` for threads of this machine, ``"ray"`` for a Ray cluster.
    workers : int, optional
        Parallel workers; by default one per core.
    address : str, optional
        The address of a Ray cluster, such as ``"auto"``; by default a new one on this machine.
    filesystem : pyarrow.fs.FileSystem, optional
        The file system of the files; by default that of their addresses.
    """

    engine: str = "local"
    workers: int | None = None
    address: str | None = None
    filesystem: Any = None

    def __post_init__(self) -> None:
        check_name("engine", self.engine, ENGINES)
        if self.workers is not None and self.workers < 1:
            raise InvalidInputError(f"`workers` must be at least 1, got {self.workers}.")

    def start(self) -> AbstractContextManager[Engine]:
        """The engine, inside the context."""
        return ENGINES[self.engine](workers=self.workers, address=self.address)


LOCAL = Execution()
