"""Example outputs that ship with the package, the same bytes on every machine."""

from abstain.datasets.digits import digits
from abstain.datasets.question_answering import question_answers

__all__ = ["digits", "question_answers"]
