"""The page of an evaluation: a decision, and all that it rests on."""

from dataclasses import replace
from os import PathLike
from pathlib import Path

from abstain.arguments import as_path
from abstain.evaluation import Evaluation
from abstain.extras import require_all
from abstain.files import check_goal, write_text
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.command import command
from abstain.report.evaluation_page.curves import curves
from abstain.report.evaluation_page.decision import decision
from abstain.report.evaluation_page.explorer import explorer
from abstain.report.evaluation_page.failures import failures
from abstain.report.evaluation_page.provenance import provenance
from abstain.report.evaluation_page.samples import samples
from abstain.report.evaluation_page.scores_table import scores_table
from abstain.report.page import document
from abstain.report.point import point_of
from abstain.selector import Selector
from abstain.thresholds.sample import check_chance, check_target
from abstain.words import counted

SECTIONS = (decision, scores_table, curves, explorer, samples, failures, command, provenance)
"""In the order of the page; adding one takes a file, a line here and a test."""


def write_page(
    evaluation: Evaluation,
    file: str | PathLike[str],
    /,
    *,
    selector: Selector | None = None,
    risk: float | None = None,
    delta: float = 0.05,
    run: str = "run/",
    selector_file: str = "selector.abstain",
    title: str | None = None,
) -> Case:
    """Write one self-contained HTML file: which score and threshold, what it costs, promises, and where it fails.

    The point is that of a ``selector``, or the recommended score at a target ``risk``; without either, at about half of
    the risk that there is. ``run`` and ``selector_file`` are where the outputs and the selector are, for
    the command to copy, and ``title`` is what stands above the page. Returns what the page is made from.
    """
    goal = as_path("file", file)
    check_page(goal)
    case = _case(evaluation, selector, risk, delta, run, selector_file)
    case = case if title is None else replace(case, title=title)
    write_text(goal, _html(case))
    return case


def evaluation_page(
    evaluation: Evaluation, /, *, selector: Selector | None, risk: float | None, delta: float, run: str
) -> str:
    """The HTML of the page."""
    return _html(_case(evaluation, selector, risk, delta, run, "selector.abstain"))


def _case(
    evaluation: Evaluation, selector: Selector | None, risk: float | None, delta: float, run: str, selector_file: str
) -> Case:
    check_chance("delta", delta)
    if risk is not None:
        check_target("risk", risk)
    if selector is not None and risk is not None:
        raise ValueError("`risk` must be left out with a `selector`, which has a threshold, got both.")
    point = point_of(evaluation, selector=selector, risk=risk, delta=delta)
    return Case(evaluation, point, delta, run, selector_file)


def _html(case: Case) -> str:
    where = "" if case.run == "run/" else f" in {case.run}"
    scores = len(case.evaluation.scores)
    compared = f"{counted(scores, 'confidence score')}{' compared' if scores > 1 else ''}"
    subtitle = f"{case.n:,} answers of a classifier{where}, {compared}"
    return document(case.title, [section(case) for section in SECTIONS], subtitle=subtitle)


def check_page(goal: Path, /) -> None:
    """What would stop a page from being written, before anything is computed for it."""
    require_all({"altair": "report", "vl_convert": "report"}, feature="The page")
    check_goal(goal)
