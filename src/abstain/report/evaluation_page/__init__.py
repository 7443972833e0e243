"""The page of an evaluation: one self-contained HTML file that decides."""

from abstain.report.evaluation_page.decision import decision_words
from abstain.report.evaluation_page.write import SECTIONS, check_page, evaluation_page, write_page

__all__ = ["SECTIONS", "check_page", "decision_words", "evaluation_page", "write_page"]
