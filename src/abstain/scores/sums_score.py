"""Scores that are formulas in the row sums of the logits."""

from abc import ABC, abstractmethod

from abstain.scores.inputs import Inputs
from abstain.scores.of_logits import of_logits
from abstain.scores.rows import Array, Rows
from abstain.scores.score import PlainScore


class SumsScore(PlainScore, ABC):
    """A score that needs the row sums alone, so that one pass over the logits serves all of its kind."""

    @abstractmethod
    def from_sums(self, rows: Rows, /) -> Array:
        """The formula."""

    def formula(self, inputs: Inputs, /) -> Array:
        """Of the logits as they are."""
        return self.from_sums(inputs.sums())

    def of(self, logits: Array, /, *, temperature: float = 1.0) -> Array:
        """Of logits / temperature."""
        return of_logits({self.name: lambda inputs: self.from_sums(inputs.sums(temperature))}, logits)[self.name]
