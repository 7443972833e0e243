"""The page of an evaluation: one self-contained HTML file that decides."""

from abstain.evaluation.page.context import TITLE, PageLabels
from abstain.evaluation.page.decision import decision_words
from abstain.evaluation.page.write import SECTIONS, check_page, evaluation_page, page_context, write_page

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
