"""Progress on standard error: a bar in a terminal, a line a minute in a log."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from abstain.evaluation.fitting import Progress

EVERY = 60  # seconds between lines of progress
Count = Callable[[int, int], None]
"""Called with what is done and the total."""


@contextmanager
def progress_bar() -> "Iterator[Progress]":
    """A bar that follows `evaluate`; it goes away when done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


@contextmanager
def sample_bar(doing: str = "Collecting") -> Iterator[Count]:
    """A bar that counts what is done, with the rate and the time left; it goes away when done.

    Where standard error is no terminal, as in the log of a batch job, it is a line a minute. What was done before the
    first call, by an earlier run, does not count in the rate.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(doing)
        return
    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None, rate="")
        first = True

        def update(done: int, total: int) -> None:
            nonlocal first
            if first:
                bar.reset(task, completed=done, total=total)
                first = False
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.0f}/s" if speed else "")

        yield update


@contextmanager
def rows_bar() -> Iterator[Count]:
    """Counts rows; what an engine prints inside the context, as Ray does of dead workers, goes to standard error."""
    with redirect_stdout(sys.stderr), sample_bar("Rows") as progress:
        yield progress


class _Lines:
    """Progress as a line now and then."""

    def __init__(self, doing: str) -> None:
        self.doing, self.start, self.last = doing, (0.0, 0), 0.0

    def __call__(self, done: int, total: int) -> None:
        now = monotonic()
        if not self.last:
            self.start, self.last = (now, done), now
        if now - self.last < EVERY or sys.stderr is None:
            return
        self.last = now
        rate = (done - self.start[1]) / (now - self.start[0])
        left = f", {timedelta(seconds=round((total - done) / rate))} left" if rate else ""
        print(f"{self.doing}: {done:,} of {total:,}, {rate:.3g}/s{left}", file=sys.stderr, flush=True)
