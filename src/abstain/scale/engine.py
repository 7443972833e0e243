"""`Engine`: where tasks run. All else is the same on every engine, so another engine is one more small file."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar, final

Item = TypeVar("Item")
Output = TypeVar("Output")


@final
@dataclass(frozen=True)
class Engine:
    """Runs the same work on many items, each independent of the others.

    Parameters
    ----------
    prepare : callable
        From the work a function that starts it on an item and returns a task.
    result : callable
        What a task returns, when it is done.
    cancel : callable
        Ends a task that is no longer needed.
    at_once : int
        How many tasks are in progress.
    """

    prepare: Callable[[Callable[..., Any]], Callable[[Any], Any]]
    result: Callable[[Any], Any]
    cancel: Callable[[Any], object]
    at_once: int

    def map(self, work: Callable[[Item], Output], items: Sequence[Item], /) -> Iterator[Output]:
        """What ``work`` returns for each item, in their order, each exactly once, even if a worker dies.

        The first error, in the order of the items, ends it. No result is stored, so that memory does not depend on
        their number.
        """
        start, rest = self.prepare(work), iter(items)
        running = deque(map(start, islice(rest, self.at_once)))
        try:
            while running:
                result = self.result(running.popleft())
                running.extend(map(start, islice(rest, 1)))
                yield result
        finally:
            for task in running:
                self.cancel(task)
