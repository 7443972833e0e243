"""The page of an evaluation: a decision, and all that it rests on."""

from importlib import import_module
from pathlib import Path

from abstain._errors import InvalidInputError
from abstain._extras import require_all
from abstain._io.files import check_output_path, write_text
from abstain._text import counted
from abstain.evaluation import Evaluation
from abstain.evaluation.operating_point import point_of
from abstain.evaluation.page.context import PageContext, PageLabels
from abstain.monitor import RiskEstimate
from abstain.report.page import Section, document
from abstain.selector import Selector
from abstain.thresholds.sample import check_chance, check_target

SECTIONS = (
    "decision",
    "unlabelled",
    "scores_table",
    "curves",
    "explorer",
    "samples",
    "failures",
    "group_rates",
    "command",
    "provenance",
)
"""In the order of the page: files of this folder, each with a function of its name."""


def page_context(
    evaluation: Evaluation,
    /,
    *,
    selector: Selector | None = None,
    risk: float | None = None,
    delta: float = 0.05,
    labels: PageLabels | None = None,
    estimate: RiskEstimate | None = None,
) -> PageContext:
    """What the page is made from; the options are those of `Evaluation.to_html`."""
    check_chance("delta", delta)
    if risk is not None:
        check_target("risk", risk)
    if selector is not None and risk is not None:
        raise InvalidInputError("`risk` must be left out with a `selector`, which has a threshold, got both.")
    point = point_of(evaluation, selector=selector, risk=risk, delta=delta)
    return PageContext(evaluation, point, delta, labels or PageLabels(), estimate)


def evaluation_page(case: PageContext, /) -> str:
    """The HTML of the page."""
    where = "" if case.labels.run == "run/" else f" in {case.labels.run}"
    scores = len(case.evaluation.scores)
    compared = f"{counted(scores, 'confidence score')}{' compared' if scores > 1 else ''}"
    subtitle = f"{case.n:,} answers of a classifier{where}, {compared}"
    sections = [each for name in SECTIONS if (each := section(name, case)) is not None]
    return document(case.labels.title, sections, subtitle=subtitle)


def section(name: str, case: PageContext, /) -> Section | None:
    """A section of the page, None where there is nothing to show in it."""
    made: Section | None = getattr(import_module(f"abstain.evaluation.page.{name}"), name)(case)
    return made


def write_page(case: PageContext, file: Path, /) -> None:
    """Write the page."""
    write_text(file, evaluation_page(case))


def check_page(output: Path, /) -> None:
    """What would stop a page from being written, before anything is computed for it."""
    require_all({"altair": "report", "jinja2": "report", "vl_convert": "report"}, feature="The page")
    check_output_path(output)
