"""Machines on repeated splits of one table, and means over them."""

from dataclasses import dataclass

from abstain.experiments.mean import Mean
from abstain.experiments.splits import split_mean
from abstain.experiments.svm.machine import SHARE, Machine


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines on repeated splits of one table."""

    table: str
    all: tuple[Machine, ...]

    def mean(self, values: list[float]) -> Mean:
        """A mean over the splits."""
        return split_mean(values, tested=(1 - SHARE) / SHARE)

    def area(self, name: str) -> Mean:
        """AURC × 100."""
        return self.mean([100 * one.areas[name] for one in self.all])

    def difference(self, name: str, other: str) -> Mean:
        """AURC × 100 of one score less that of another, paired over the splits."""
        return self.mean([100 * (one.areas[name] - one.areas[other]) for one in self.all])

    @property
    def data(self) -> str:
        """What it was."""
        return f"{self.table}, {len(self.all)} splits with {len(self.all[0].outputs):,} rows tested in each"
