"""Rejection with costs that differ by class, on medical tables: an open question of the paper (§5 ii)."""

import numpy as np

from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.costs.cost_result import BASELINE, CostResult, measure
from abstain_reproduction.costs.cost_tables import cost_tables
from abstain_reproduction.costs.costs_figure import costs_figure
from abstain_reproduction.costs.rules import RULES
from abstain_reproduction.experiment import Experiment, Setting
from abstain_reproduction.findings import Findings, ResultTable

HINDSIGHT = "one threshold, in hindsight"
OURS = ("Chow, plug-in", "empirical minimiser")


def run(setting: Setting) -> Findings:
    """Measure what each rule costs."""
    results = []
    tables = cost_tables()
    for done, table in enumerate(tables):
        results.append(measure(table, seed=setting.seed))
        if setting.progress is not None:
            setting.progress(done + 1, len(tables))
    return Findings(
        words="Errors and rejections that cost differently by class, on two medical tables: rules that know the costs "
        "against one threshold on the largest probability, chosen with the same costs in mind.",
        verdicts=tuple(pays(result) for result in results),
        tables=tuple(_table(result) for result in results),
        numbers={
            result.table.name: {
                "cost": result.cost,
                "coverage": {rule: np.mean(shares, axis=0).tolist() for rule, shares in result.coverage.items()},
            }
            for result in results
        },
        figures={"costs": lambda: costs_figure(results)},
    )


def pays(result: CostResult, /) -> ClaimVerdict:
    """Whether a rule made for the costs is cheaper than one threshold for all classes."""
    savings = {rule: result.difference(rule) for rule in OURS}
    words = "; ".join(f"{rule} {saving:+.2f}" for rule, saving in savings.items())
    best = min(OURS, key=lambda rule: savings[rule].mean)
    hindsight = result.difference(best, HINDSIGHT)
    evidence = (
        f"cost × 100 per row less that of one threshold ({result.mean(BASELINE):.2f}): {words}; of {best} less that of "
        f"the one threshold that is best on the tested rows themselves: {hindsight:+.2f}"
    )
    held = savings[best].mean < 0 if savings[best].is_significant else None
    return ClaimVerdict.of("class-costs", held, evidence, result.data)


def _table(result: CostResult) -> ResultTable:
    rows = []
    for rule in RULES:
        coverage = np.mean(result.coverage[rule], axis=0)
        change = "" if rule == BASELINE else f"{result.difference(rule):+.2f}"
        rows.append((rule, f"{result.mean(rule):.2f}", change, *(f"{100 * share:.0f}" for share in coverage)))
    columns = ("rule", "cost × 100", "less one threshold", *(f"{name} answered, %" for name in result.table.classes))
    return ResultTable(
        f"{result.table.name}: {result.table.words}", columns, tuple(rows), "Mean over splits ± standard error."
    )


TITLE = "Rejection where errors and rejections cost differently by class"
COSTS = Experiment("costs", TITLE, run)
