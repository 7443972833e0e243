"""What is estimated for new rows without labels, where there are any."""

from abstain.evaluation.page.context import PageContext
from abstain.monitor import RISK_METHODS
from abstain.report.page import Html, Section, TableCell, render, table


def unlabelled(case: PageContext, /) -> Section | None:
    """The estimates of each method, and that none is a guarantee; None where no estimate was given."""
    if case.estimate is None:
        return None
    html = render("unlabelled.html", lines=case.estimate.lines(), table=_table(case), left_out=case.estimate.left_out)
    return Section(name="unlabelled", title="New rows without labels", html=html)


def _table(case: PageContext) -> Html:
    assert case.estimate is not None
    columns = ["Method", "Risk", "Accuracy", "It assumes that"]
    rows = [
        [
            TableCell(f"{each.method}: {RISK_METHODS[each.method].title}"),
            TableCell(case.percent(each.risk), each.risk),
            TableCell(case.percent(each.accuracy), each.accuracy),
            TableCell(RISK_METHODS[each.method].assumption),
        ]
        for each in case.estimate.estimates
    ]
    return table(columns, rows, caption="Estimated by each method", numbers=(1, 2))
