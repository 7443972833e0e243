"""`write_page`: the page of any result that has one."""

from functools import singledispatch
from os import PathLike
from typing import Any

from abstain._errors import InvalidTypeError
from abstain.evaluation import Evaluation
from abstain.evaluation.runs import RunComparison
from abstain.report import certificate, comparison, evaluation_page
from abstain.selector import Certificate


@singledispatch
def write_page(result: Any, file: str | PathLike[str], /, **_options: Any) -> Any:  # noqa: ARG001
    """Write one self-contained HTML file about a result; ``result.to_html(file)`` calls it.

    Parameters
    ----------
    result : Evaluation, RunComparison or Certificate
        What the page is about; a page for another class takes a file and a line in this module.
    file : path
        The .html file to write.
    **options
        For an evaluation those of `abstain.report.evaluation_page.write_page`: ``selector``, ``risk``, ``delta``,
        ``labels``.
    """
    raise InvalidTypeError(
        f"`result` must be an Evaluation, RunComparison or Certificate, got {type(result).__name__}."
    )


write_page.register(Evaluation, evaluation_page.write_page)
write_page.register(RunComparison, comparison.write_page)
write_page.register(Certificate, certificate.write_page)
