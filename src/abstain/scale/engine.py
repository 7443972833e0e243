"""`Engine`: where tasks run. All else is the same on every engine, so another engine is one more small file."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs the same work on many items, each independent of the others."""

    def map(self, work: Callable[[Item], Result], items: Sequence[Item], /) -> Iterator[Result]:
        """What ``work`` makes of each item, in their order, each exactly once, even if a worker dies.

        The first error, in the order of the items, ends it. Few more items are in progress than there are workers,
        and no result is stored, so that memory does not depend on their number.
        """
