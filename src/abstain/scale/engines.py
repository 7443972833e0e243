"""The engines by name: threads of this machine, and a Ray cluster."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, final

from abstain._errors import InvalidInputError
from abstain._kernels.blocks import alone, usable_cores
from abstain._names import check_name
from abstain.scale.engine import Engine, Item, Result
from abstain.scale.ray import RayEngine


@final
class LocalEngine:
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    @classmethod
    @contextmanager
    def started(cls, *, workers: int | None, address: str | None) -> Iterator["LocalEngine"]:
        """As many threads as there are workers, or cores."""
        if address is not None:
            raise InvalidInputError(
                f"`address` must be left out with the engine `local`, got {address!r}. Did you mean `ray`?"
            )
        yield cls(workers or usable_cores())

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], /) -> Iterator[Result]:
        """See `Engine`."""
        rest, running = iter(items), deque[Future[Result]]()
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                running.extend(pool.submit(alone, work, item) for item in islice(rest, 2 * self.workers))
                while running:
                    result = running.popleft().result()
                    running.extend(pool.submit(alone, work, item) for item in islice(rest, 1))
                    yield result
            finally:
                for future in running:
                    future.cancel()


Start = Callable[..., AbstractContextManager[Engine]]

ENGINES: dict[str, Start] = {"local": LocalEngine.started, "ray": RayEngine.started}
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
