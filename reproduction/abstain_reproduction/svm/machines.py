"""Machines on repeated splits of one table, and means over them."""

from dataclasses import dataclass

from abstain_reproduction.mean import Mean
from abstain_reproduction.splits import split_mean
from abstain_reproduction.svm.machine import SHARE, Machine


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
        return self.mean([100 * machine.areas[name] for machine in self.all])

    def difference(self, name: str, other: str) -> Mean:
        """AURC × 100 of one score less that of another, paired over the splits."""
        return self.mean([100 * (machine.areas[name] - machine.areas[other]) for machine in self.all])

    @property
    def data(self) -> str:
        """The table and the number of splits, for evidence."""
        return f"{self.table}, {len(self.all)} splits with {len(self.all[0].outputs):,} rows tested in each"
