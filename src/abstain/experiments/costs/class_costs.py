"""Rejection with costs that differ by class, on medical tables: an open question of the paper (§5 ii)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.experiments.claims import Verdict
from abstain.experiments.costs.cost_tables import SHARES, CostTable, cost_tables, predicted
from abstain.experiments.costs.costs_figure import costs_figure
from abstain.experiments.costs.rules import RULES, paid
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table
from abstain.experiments.splits import SplitMean, split_mean

SPLITS = 50
BASELINE = "one threshold"
HINDSIGHT = "one threshold, in hindsight"
OURS = ("Chow, plug-in", "empirical minimiser")


@dataclass(frozen=True, eq=False)
class Paid:
    """What every rule cost on every split of a table, and how much it answered."""

    table: CostTable
    cost: dict[str, list[float]]
    coverage: dict[str, list[NDArray[np.float64]]]
    """Share of rows answered, by true class."""

    def mean(self, rule: str) -> SplitMean:
        """Cost × 100 per row."""
        return _mean(self.cost[rule])

    def difference(self, rule: str, other: str = BASELINE) -> SplitMean:
        """Cost × 100 per row of a rule less that of another, paired over the splits."""
        return _mean([a - b for a, b in zip(self.cost[rule], self.cost[other], strict=True)])

    @property
    def data(self) -> str:
        """What it was."""
        n = len(self.table.labels)
        return f"{self.table.name}, {n} rows, {len(self.cost[BASELINE])} splits; {self.table.words}"


def _mean(values: list[float]) -> SplitMean:
    return split_mean(values, tested=SHARES[2] / (SHARES[0] + SHARES[1])).times(100)


def measure(table: CostTable, /, *, seed: int = 0, splits: int = SPLITS) -> Paid:
    """Every rule on repeated splits of a table."""
    found = Paid(table, {name: [] for name in RULES}, {name: [] for name in RULES})
    for split in range(splits):
        choose, test = predicted(table, seed=seed * splits + split)
        for name, rule in RULES.items():
            answers = rule(choose, test, table.costs, seed)
            found.cost[name].append(float(paid(answers, test.labels, table.costs).mean()))
            shares = [np.mean(answers[test.labels == label] >= 0) for label in range(len(table.costs.matrix))]
            found.coverage[name].append(np.array(shares))
    return found


def run(setting: Setting) -> Findings:
    """Measure what each rule costs."""
    found = []
    tables = cost_tables()
    for done, table in enumerate(tables):
        found.append(measure(table, seed=setting.seed))
        if setting.progress is not None:
            setting.progress(done + 1, len(tables))
    return Findings(
        words="Errors and rejections that cost differently by class, on two medical tables: rules that know the costs "
        "against one threshold on the largest probability, chosen with the same costs in mind.",
        verdicts=tuple(pays(one) for one in found),
        tables=tuple(_table(one) for one in found),
        numbers={
            one.table.name: {
                "cost": one.cost,
                "coverage": {rule: np.mean(shares, axis=0).tolist() for rule, shares in one.coverage.items()},
            }
            for one in found
        },
        figures={"costs": lambda: costs_figure(found)},
    )


def pays(found: Paid, /) -> Verdict:
    """Whether a rule made for the costs is cheaper than one threshold for all classes."""
    savings = {rule: found.difference(rule) for rule in OURS}
    words = "; ".join(f"{rule} {one:+.2f}" for rule, one in savings.items())
    best = min(OURS, key=lambda rule: savings[rule].mean)
    hindsight = found.difference(best, HINDSIGHT)
    evidence = (
        f"cost × 100 per row less that of one threshold ({found.mean(BASELINE):.2f}): {words}; of {best} less that of "
        f"the one threshold that is best on the tested rows themselves: {hindsight:+.2f}"
    )
    held = savings[best].mean < 0 if savings[best].is_significant else None
    return Verdict.of("class-costs", held, evidence, found.data)


def _table(found: Paid) -> Table:
    rows = []
    for rule in RULES:
        coverage = np.mean(found.coverage[rule], axis=0)
        change = "" if rule == BASELINE else f"{found.difference(rule):+.2f}"
        rows.append((rule, f"{found.mean(rule):.2f}", change, *(f"{100 * share:.0f}" for share in coverage)))
    columns = ("rule", "cost × 100", "less one threshold", *(f"{name} answered, %" for name in found.table.classes))
    return Table(f"{found.table.name}: {found.table.words}", columns, tuple(rows), "Mean over splits ± standard error.")


TITLE = "Rejection where errors and rejections cost differently by class"
COSTS = Experiment("costs", TITLE, run)
