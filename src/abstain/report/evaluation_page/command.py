"""The command that makes a selector for the chosen point."""

import shlex
from typing import Any

from abstain.report.evaluation_page.case import Case
from abstain.report.page import Section, text
from abstain.report.page.text import plain
from abstain.scores.registry import as_score

OWN = "The score is a function of yours, which no command line can name: calibrate in Python, and pass it as the score."


def command(case: Case, /) -> Section:
    """The lines to copy: to make the selector of the point, which follow the explorer, or to use the one there is."""
    html = _to_make(case) if case.point.selector is None else _to_use(case)
    return Section(name="command", title="The command", html=html)


def _to_make(case: Case) -> str:
    known = "" if _is_known(case) else f"<p>{OWN}</p>"
    return (
        f"{_instead(case)}<p>This line makes a selector for the point chosen above, with a promise of its own. It "
        "uses the rows that chose this point, which the guarantee ignores. Use other labelled rows before relying on "
        "it.</p>"
        f"{known}{_copied(line_of(case))}"
        '<p class="quiet">A risk asks for: wrong among accepted at most that. A coverage asks for: accepted at least '
        "that. A cost is that of a rejection where an error costs 1, and asks for the lowest mean cost. What is "
        "promised is kept with probability 1 − δ over the rows that are calibrated on.</p>"
    )


def _to_use(case: Case) -> str:
    selector, run = (shlex.quote(plain(one)) for one in (case.selector_file, case.run))
    line = f"abstain certify {selector} --on {run}\nabstain select {selector} {run} -o decisions.csv"
    return (
        "<p>The selector is there already. The first line tests its promise on rows that it has not seen, the second "
        f"decides row by row.</p>{_copied(line)}"
    )


def _copied(line: str) -> str:
    return (
        f'<pre><code id="command-line">{text(line)}</code></pre>'
        '<p><button type="button" class="button" data-copy="command-line">Copy</button></p>'
    )


def command_parts(case: Case, scores: list[str], /) -> dict[str, Any]:
    """The command before and after what is asked for, and how each score is named on it."""
    return {
        "before": f"abstain calibrate {shlex.quote(plain(case.run))}",
        "scores": [f"--score {shlex.quote(plain(score))}" for score in scores],
        "after": f"--delta {case.delta:g} -o selector.abstain",
    }


def _is_known(case: Case) -> bool:
    """Whether the command line can name the score."""
    try:
        as_score(case.point.score, case.evaluation.outputs)
    except ValueError:
        return False
    return True


def line_of(case: Case, /) -> str:
    """What makes the selector of the point; where nothing can be promised, of the risk in reach, or plans more rows."""
    point, parts = case.point, command_parts(case, [case.point.score])
    if point.offered_risk is None:
        aim = point.missed or point.target
        asked = f"--n {case.n}" if aim is None else f"--risk {aim:g}"
        return f"abstain plan {asked} --delta {case.delta:g}"
    return " ".join([parts["before"], parts["scores"][0], f"--risk {point.offered_risk:g}", parts["after"]])


def _instead(case: Case) -> str:
    """Why the line asks for something else, where nothing can be promised."""
    point = case.point
    if point.threshold is not None:
        return ""
    if point.in_reach is None:
        return "<p>These rows promise nothing that helps: the line tells how many labelled rows a promise takes.</p>"
    return (
        f"<p>A risk of {point.target:g} is out of reach on these rows: the line asks for "
        f"{point.offered_risk:g}, about the lowest that is in reach. More labelled rows reach a lower one: "
        f"<code>abstain plan --risk {point.target:g} --delta {case.delta:g}</code> tells how many.</p>"
    )
