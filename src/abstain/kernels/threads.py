"""The same work on several arrays, in threads where they are long."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from abstain.kernels.blocks import for_each_block

Item = TypeVar("Item")
Result = TypeVar("Result")
PASSES = 8  # over an array, at least: below a million elements in all, a thread costs more than it saves


def in_threads(work: Callable[[Item], Result], items: Sequence[Item], size: int, /) -> list[Result]:
    """What ``work`` makes of each item, an array of about ``size`` elements; short ones share a thread."""
    found: dict[int, Result] = {}

    def some(block: slice) -> None:
        for k in range(block.start, block.stop):
            found[k] = work(items[k])

    for_each_block(some, len(items), PASSES * size)
    return [found[k] for k in range(len(items))]
