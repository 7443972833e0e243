"""The command that makes a selector for the chosen point."""

import shlex
from typing import Any

from abstain.evaluation.page.context import PageContext
from abstain.report.page import Section, render
from abstain.report.page.text import plain
from abstain.scores.registry import as_score, recommended_words


def command(case: PageContext, /) -> Section:
    """The lines to copy: to make the selector of the point, which follow the explorer, or to use the one there is."""
    point = case.point
    html = render(
        "command.html",
        graded=case.is_graded,
        has_selector=point.selector is not None,
        line=line_of(case) if point.selector is None else _lines_to_use(case),
        is_refused=point.threshold is None,
        is_known=_is_known(case),
        recommended=recommended_words(point.score) if len(case.evaluation.scores) > 1 and _is_known(case) else "",
        target=point.target or 0,
        achievable=None if point.achievable is None else point.offered_risk,
        delta=f"{case.delta:g}",
    )
    return Section(name="command", title="The command", html=html)


def _lines_to_use(case: PageContext) -> str:
    selector, run = (shlex.quote(plain(path)) for path in (case.labels.selector_file, case.labels.run))
    return f"abstain certify {selector} --on {run}\nabstain select {selector} {run} -o decisions.csv"


def command_parts(case: PageContext, scores: list[str], /) -> dict[str, Any]:
    """The command before and after what is asked for, and how each score is named on it."""
    return {
        "before": f"abstain calibrate {shlex.quote(plain(case.labels.run))}",
        "scores": [f"--score {shlex.quote(plain(score))}" for score in scores],
        "after": f"--delta {case.delta:g} -o selector.abstain",
    }


def _is_known(case: PageContext) -> bool:
    """Whether the command line can name the score."""
    try:
        as_score(case.point.score, case.evaluation.outputs)
    except ValueError:
        return False
    return True


def line_of(case: PageContext, /) -> str:
    """What makes the selector of the point; where it is not achievable, of a risk that is, or plans more rows."""
    point, parts = case.point, command_parts(case, [case.point.score])
    if point.offered_risk is None:
        aim = point.missed or point.target
        asked = f"--n {case.n}" if aim is None else f"--risk {aim:g}"
        return f"abstain plan {asked} --delta {case.delta:g}"
    return " ".join([parts["before"], parts["scores"][0], f"--risk {point.offered_risk:g}", parts["after"]])
