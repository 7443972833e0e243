"""The page of an evaluation: a decision, and all that it rests on."""

from os import PathLike
from pathlib import Path

from abstain._arguments import as_path
from abstain._errors import InvalidInputError
from abstain._extras import require_all
from abstain._io.files import check_output_path, write_text
from abstain._text import counted
from abstain.evaluation import Evaluation
from abstain.monitor import RiskEstimate
from abstain.report.evaluation_page.command import command
from abstain.report.evaluation_page.context import PageContext, PageLabels
from abstain.report.evaluation_page.curves import curves
from abstain.report.evaluation_page.decision import decision
from abstain.report.evaluation_page.explorer import explorer
from abstain.report.evaluation_page.failures import failures
from abstain.report.evaluation_page.group_rates import group_rates
from abstain.report.evaluation_page.provenance import provenance
from abstain.report.evaluation_page.samples import samples
from abstain.report.evaluation_page.scores_table import scores_table
from abstain.report.evaluation_page.unlabelled import unlabelled
from abstain.report.operating_point import point_of
from abstain.report.page import document
from abstain.selector import Selector
from abstain.thresholds.sample import check_chance, check_target

LABELS = PageLabels()
SECTIONS = (decision, unlabelled, scores_table, curves, explorer, samples, failures, group_rates, command, provenance)
"""In the order of the page, None for one that there is nothing for; adding one takes a file, a line and a test."""


def write_page(
    evaluation: Evaluation,
    file: str | PathLike[str],
    /,
    *,
    selector: Selector | None = None,
    risk: float | None = None,
    delta: float = 0.05,
    labels: PageLabels = LABELS,
    estimate: RiskEstimate | None = None,
) -> PageContext:
    """Write one self-contained HTML file: which score and threshold, what it costs, guarantees, and where it fails.

    Parameters
    ----------
    evaluation : Evaluation
        The scores compared.
    file : path
        The .html file to write.
    selector : Selector, optional
        The page is about its threshold and guarantee.
    risk : float, optional
        Without a selector: the target of the recommended score; by default about half of the risk that there is.
    delta : float
        Probability with which a guarantee or a bound may fail.
    labels : PageLabels
        What the page calls the outputs, the selector and itself.
    estimate : RiskEstimate, optional
        Of the selector's risk on new rows without labels, by `abstain.estimate_risk`; the page gets a section on it.

    Returns
    -------
    PageContext
        What the page is made from.
    """
    output = as_path("file", file)
    check_page(output)
    context = page_context(evaluation, selector=selector, risk=risk, delta=delta, labels=labels, estimate=estimate)
    write_text(output, evaluation_page(context))
    return context


def page_context(
    evaluation: Evaluation,
    /,
    *,
    selector: Selector | None = None,
    risk: float | None = None,
    delta: float = 0.05,
    labels: PageLabels = LABELS,
    estimate: RiskEstimate | None = None,
) -> PageContext:
    """What the page is made from."""
    check_chance("delta", delta)
    if risk is not None:
        check_target("risk", risk)
    if selector is not None and risk is not None:
        raise InvalidInputError("`risk` must be left out with a `selector`, which has a threshold, got both.")
    point = point_of(evaluation, selector=selector, risk=risk, delta=delta)
    return PageContext(evaluation, point, delta, labels, estimate)


def evaluation_page(case: PageContext, /) -> str:
    """The HTML of the page."""
    where = "" if case.labels.run == "run/" else f" in {case.labels.run}"
    scores = len(case.evaluation.scores)
    compared = f"{counted(scores, 'confidence score')}{' compared' if scores > 1 else ''}"
    subtitle = f"{case.n:,} answers of a classifier{where}, {compared}"
    made = (section(case) for section in SECTIONS)
    return document(case.labels.title, [section for section in made if section is not None], subtitle=subtitle)


def check_page(output: Path, /) -> None:
    """What would stop a page from being written, before anything is computed for it."""
    require_all({"altair": "report", "jinja2": "report", "vl_convert": "report"}, feature="The page")
    check_output_path(output)
