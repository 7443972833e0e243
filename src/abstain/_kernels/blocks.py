"""Split rows into blocks and work on them in threads: bounded memory, every core, the same bits on any machine."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TypeVar

BLOCK_ELEMENTS = 1 << 21  # 8 MB of float32: large enough to amortise calls, small enough to stay in cache
BLOCK_ROWS = 1024  # of features: enough for a matrix product, few enough that products with a bank of rows are small
_IS_ALONE = ContextVar("_IS_ALONE", default=False)
Item = TypeVar("Item")
Result = TypeVar("Result")


def row_blocks(n_rows: int, n_columns: int, /) -> Iterator[slice]:
    """Slices that cover the rows, each of about a million elements and at least one row."""
    step = max(1, BLOCK_ELEMENTS // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def for_each_block(work: Callable[[slice], None], n_rows: int, n_columns: int, /) -> None:
    """Call ``work`` on every block of rows, in as many threads as this process may use.

    The work writes each block's results to its own rows, so nothing depends on the order of the blocks.
    """
    blocks = list(row_blocks(n_rows, n_columns))
    threads = 1 if _IS_ALONE.get() else min(len(blocks), usable_cores())
    if threads <= 1:
        for block in blocks:
            work(block)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, blocks):
            pass


def alone(work: Callable[[Item], Result], item: Item, /) -> Result:
    """``work(item)`` without threads of its own, for callers that run many of them in parallel."""
    before = _IS_ALONE.set(True)
    try:
        return work(item)
    finally:
        _IS_ALONE.reset(before)


def usable_cores() -> int:
    """How many cores this process may use, if the platform reports it."""
    if hasattr(os, "process_cpu_count"):  # since Python 3.13
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


PASSES = 8  # that work makes over an array, at least: below a million elements in all, threads do not pay


def in_threads(work: Callable[[Item], Result], items: Sequence[Item], size: int, /) -> list[Result]:
    """What ``work`` makes of each item, an array of about ``size`` elements; short ones share a thread."""
    results: dict[int, Result] = {}

    def some(block: slice) -> None:
        for k in range(block.start, block.stop):
            results[k] = work(items[k])

    for_each_block(some, len(items), PASSES * size)
    return [results[k] for k in range(len(items))]
