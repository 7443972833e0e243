"""The engine of this machine alone: threads, since reading and the kernels let others run."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import final

from abstain.engines.engine import Item, Result
from abstain.kernels.blocks import alone, usable_cores


@final
class LocalEngine:
    """Threads of this process."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    @classmethod
    @contextmanager
    def started(cls, *, workers: int | None, address: str | None) -> Iterator["LocalEngine"]:
        """As many threads as there are cores, unless told."""
        if address is not None:
            raise ValueError(f"`address` must be left out with the engine local, got {address!r}. Did you mean ray?")
        yield cls(workers or usable_cores())

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], /) -> Iterator[Result]:
        """As `Engine` says."""
        rest, running = iter(items), deque[Future[Result]]()
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                running.extend(pool.submit(alone, work, item) for item in islice(rest, 2 * self.workers))
                while running:
                    found = running.popleft().result()
                    running.extend(pool.submit(alone, work, item) for item in islice(rest, 1))
                    yield found
            finally:
                for one in running:
                    one.cancel()
