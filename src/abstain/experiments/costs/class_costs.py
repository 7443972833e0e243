"""Rejection with costs that differ by class, on medical tables: an open question of the paper (§5 ii)."""

import numpy as np

from abstain.experiments.claims import Verdict
from abstain.experiments.costs.cost_tables import cost_tables
from abstain.experiments.costs.costs_figure import costs_figure
from abstain.experiments.costs.measured import BASELINE, Paid, measure
from abstain.experiments.costs.rules import RULES
from abstain.experiments.experiment import Experiment, Setting
from abstain.experiments.findings import Findings, Table

HINDSIGHT = "one threshold, in hindsight"
OURS = ("Chow, plug-in", "empirical minimiser")


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
