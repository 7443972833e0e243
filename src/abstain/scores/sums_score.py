"""Scores that are formulas in the row sums of the logits."""

from abc import ABC, abstractmethod

from abstain.kernels.rows import RowSums
from abstain.scores.inputs import Inputs
from abstain.scores.rows import Array
from abstain.scores.score import PlainScore


class SumsScore(PlainScore, ABC):
    """A score that needs the row sums alone, so that one pass over the logits serves all of its kind."""

    @abstractmethod
    def from_sums(self, rows: RowSums, /) -> Array:
        """The formula."""

    def formula(self, inputs: Inputs, /) -> Array:
        """Of the logits as they are."""
        return self.from_sums(inputs.sums())
