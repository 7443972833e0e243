"""What every rule costs on repeated splits of a table."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain_reproduction.costs.cost_tables import SHARES, CostTable, predicted
from abstain_reproduction.costs.rules import RULES, cost_per_row
from abstain_reproduction.mean import Mean
from abstain_reproduction.splits import split_mean

SPLITS = 50
BASELINE = "one threshold"


@dataclass(frozen=True, eq=False)
class CostResult:
    """What every rule cost on every split of a table, and how much it answered."""

    table: CostTable
    cost: dict[str, list[float]]
    coverage: dict[str, list[NDArray[np.float64]]]
    """Share of rows answered, by true class."""

    def mean(self, rule: str) -> Mean:
        """Cost × 100 per row."""
        return _mean(self.cost[rule])

    def difference(self, rule: str, other: str = BASELINE) -> Mean:
        """Cost × 100 per row of a rule less that of another, paired over the splits."""
        return _mean([a - b for a, b in zip(self.cost[rule], self.cost[other], strict=True)])

    @property
    def data(self) -> str:
        """What it was."""
        n = len(self.table.labels)
        return f"{self.table.name}, {n} rows, {len(self.cost[BASELINE])} splits; {self.table.words}"


def _mean(values: list[float]) -> Mean:
    return split_mean(values, tested=SHARES[2] / (SHARES[0] + SHARES[1])).times(100)


def measure(table: CostTable, /, *, seed: int = 0, splits: int = SPLITS) -> CostResult:
    """Every rule on repeated splits of a table."""
    result = CostResult(table, {name: [] for name in RULES}, {name: [] for name in RULES})
    for split in range(splits):
        choose, test = predicted(table, seed=seed * splits + split)
        for name, rule in RULES.items():
            answers = rule(choose, test, table.costs, seed)
            result.cost[name].append(float(cost_per_row(answers, test.labels, table.costs).mean()))
            shares = [np.mean(answers[test.labels == label] >= 0) for label in range(len(table.costs.matrix))]
            result.coverage[name].append(np.array(shares))
    return result
