"""What a table of AURC is made of, whether rows or counts of them are at hand."""

from collections.abc import Mapping
from typing import Any, Protocol

from abstain.evaluation.learning import Learning
from abstain.metrics.compare import Comparison
from abstain.scores.score import Score


class Table(Protocol):
    """Rows for each score, mix and α, and how far each score is behind the best."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Keys: score, mix, alpha, aurc, se, low, high, n, errors, best, tied."""

    @property
    def behind(self) -> Mapping[tuple[str, str, float], Comparison]:
        """By score, mix and α, the paired difference to the best."""

    @property
    def further(self) -> list[dict[str, Any]]:
        """Metrics that were asked for, keys: score (None for those of the softmax), mix, metric, value, se or None."""

    @property
    def left_out(self) -> dict[str, str]:
        """Scores that could not be computed, and why."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know."""

    @property
    def level(self) -> float:
        """Of the intervals."""

    @property
    def entries(self) -> Mapping[str, Score]:
        """The scores compared."""

    @property
    def scores(self) -> list[str]:
        """Their names."""

    @property
    def mixes(self) -> list[str]:
        """The mixes, the widest last."""

    @property
    def alphas(self) -> list[float]:
        """The coverages α."""

    def row(self, score: str, mix: str, alpha: float) -> dict[str, Any]:
        """One row."""

    def column(self, mix: str, alpha: float) -> list[dict[str, Any]]:
        """The rows of a mix and α."""

    def best(self, mix: str, alpha: float = 1.0) -> dict[str, Any]:
        """The row of the lowest AURC-α in a mix."""

    def learning(self, score: str, mix: str, alpha: float) -> Learning | None:
        """What a learned score would gain over this one, where that can be told and is significant."""
