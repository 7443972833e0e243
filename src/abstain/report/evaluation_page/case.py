"""What the page of an evaluation is made from; every section gets the same."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.evaluation import Evaluation
from abstain.report.divisions import Division, divisions, kinds_of
from abstain.report.point import Point


@dataclass(frozen=True)
class Case:
    """An evaluation, the point decided for, and what is typed to get there."""

    evaluation: Evaluation
    point: Point
    delta: float
    run: str
    """Where the outputs are, as typed on a command line."""
    selector_file: str = "selector.abstain"
    """Where the selector is, if the point is that of one."""
    title: str = "When to trust this classifier"

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """(n,) the kind of shift of each row."""
        return kinds_of(self.point.outputs)

    @cached_property
    def divisions(self) -> list[Division]:
        """Ways to divide the rows."""
        return list(divisions(self.point))

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """(n,) the sample that each row shows, None where every row is its own."""
        return self.point.outputs.clusters

    @property
    def n(self) -> int:
        """The number of rows that the point is about."""
        return len(self.point.outputs)

    @property
    def digits(self) -> int:
        """Of a percentage."""
        return 2 if self.n < 200_000 else 3

    def percent(self, share: float, /) -> str:
        """A share as the page shows it."""
        return f"{100 * share:.{self.digits}f}%"
