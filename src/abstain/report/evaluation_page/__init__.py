"""The page of an evaluation: one self-contained HTML file that decides."""

from abstain.report.evaluation_page.context import TITLE, PageLabels
from abstain.report.evaluation_page.decision import decision_words
from abstain.report.evaluation_page.write import SECTIONS, check_page, evaluation_page, page_context, write_page

__all__ = [
    "SECTIONS",
    "TITLE",
    "PageLabels",
    "check_page",
    "decision_words",
    "evaluation_page",
    "page_context",
    "write_page",
]
