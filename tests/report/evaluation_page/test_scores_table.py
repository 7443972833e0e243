"""The table of scores says what the summary says."""

from abstain.evaluation import summarize
from abstain.report.evaluation_page.context import PageContext
from abstain.report.evaluation_page.scores_table import scores_table
from abstain.report.operating_point import point_of_risk


def intervals(evaluation, mix):
    case = PageContext(evaluation, point_of_risk(evaluation, risk=0.1, delta=0.05), 0.05)
    view = scores_table(case).data["views"][f"{mix}|augrc"]
    return dict(zip(evaluation.scores, (shown[2] for shown in view), strict=True))


def test_intervals_of_further_metrics_are_those_of_the_summary(evaluation):
    summary = {line.score: line.cells[-1] for line in summarize(evaluation, mixes=["in"], shown=None).lines}
    assert intervals(evaluation, "in") == {
        name: f"{100 * cell.low:.2f}% – {100 * cell.high:.2f}%" for name, cell in summary.items()
    }
