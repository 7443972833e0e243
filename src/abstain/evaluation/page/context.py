"""What the page of an evaluation is made from; every section gets the same."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain.evaluation import Evaluation
from abstain.evaluation.divisions import Division, divisions, kinds_of
from abstain.evaluation.mixes import mix_among
from abstain.evaluation.operating_point import Point
from abstain.monitor import RiskEstimate
from abstain.report.page.parts import Option

TITLE = "When to trust this classifier"


@final
@dataclass(frozen=True, kw_only=True)
class PageLabels:
    """What a page calls things.

    Parameters
    ----------
    run, selector_file : str
        Where the outputs and the selector are, as typed on a command line: for the command to copy.
    title : str
        The heading of the page.
    """

    run: str = "run/"
    selector_file: str = "selector.abstain"
    title: str = TITLE


@final
@dataclass(frozen=True)
class PageContext:
    """An evaluation, the point decided for, and what they are called."""

    evaluation: Evaluation
    point: Point
    delta: float
    labels: PageLabels = PageLabels()
    estimate: RiskEstimate | None = None
    """The selector's risk on new rows without labels."""

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """(n,) the kind of shift of each row."""
        return kinds_of(self.point.outputs)

    @cached_property
    def divisions(self) -> list[Division]:
        """Ways to divide the rows."""
        return list(divisions(self.point))

    @property
    def mix_options(self) -> list[Option]:
        """The mixes to choose from, the widest first."""
        mixes = self.evaluation.mixes
        return [(mix, f"{mix_among(mix, mixes).title} ({mix})", mix == mixes[-1]) for mix in reversed(mixes)]

    @property
    def clusters(self) -> NDArray[np.int64] | None:
        """(n,) the sample that each row shows, None where every row is its own."""
        return self.point.outputs.clusters

    @property
    def is_graded(self) -> bool:
        """Whether answers have losses between 0 and 1, and are not right or wrong."""
        return self.point.outputs.is_graded

    def outcome(self, total: float, n: int, /) -> str:
        """The share of errors in percent, or the mean loss; a dash for no rows."""
        return "–" if not n else f"{total / n:.4g}" if self.is_graded else self.percent(total / n)

    def total(self, rows: NDArray[np.bool_], /) -> int | float:
        """How many of these rows (n,) are wrong, or their total loss."""
        total = self.point.errors[rows].sum()
        return float(total) if self.is_graded else int(total)

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
