"""Who is rejected: coverage, risk and misses of each group, with intervals that hold for all groups together."""

from dataclasses import replace

from abstain.evaluation.page.context import PageContext
from abstain.metrics import ShareEstimate
from abstain.report.page import Section, TableCell, name, render, table
from abstain.report.page.text import shortened

SHOWN = 50


def group_rates(case: PageContext, /) -> Section | None:
    """The groups of which the least is accepted first; None without groups."""
    comparison = case.point.groups(case.evaluation.level)
    if comparison is None:
        return None
    ordered = sorted(comparison.groups, key=lambda group: (group.coverage.value, group.name))
    classes = dict.fromkeys(each for group in ordered for each in group.misses)
    rates = {"coverage": "Accepted", "risk": "Risk", "missed": "Accepted and wrong"}
    rates |= {each: f"Missed of the true class {shortened(each)}" for each in classes}
    columns, caption = ["Group", "Rows", *rates.values()], "Shares of each group, with their intervals"
    rows = [
        [TableCell(name(group.name)), TableCell(f"{group.n:,}"), *(_cell(case, group.rate(rate)) for rate in rates)]
        for group in ordered[:SHOWN]
    ]
    html = render(
        "group_rates.html",
        table=table(columns, rows, caption=caption, numbers=range(1, len(columns)), id="group-rates"),
        gaps=[replace(gap, high=shortened(gap.high), low=shortened(gap.low)).words for gap in comparison.gaps()],
        more=len(ordered) - SHOWN,
        level=f"{100 * comparison.level:g}",
    )
    return Section(name="groups", title="Who is rejected", html=html)


def _cell(case: PageContext, share: ShareEstimate | None) -> TableCell:
    if share is None:
        return TableCell("–", -1.0)
    return TableCell(
        f"{case.percent(share.value)} ({case.percent(share.low)} to {case.percent(share.high)})", share.value
    )
