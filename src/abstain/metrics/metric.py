"""`Metric`: what a metric needs of the rows, which way is better, and how it is measured on a ranking."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from abstain._text import percent
from abstain.metrics.influence import Value
from abstain.metrics.ranking import Ranking, SampleRows

Need = Literal["classes", "softmax", "known", "unknown", "unweighted", "varied"]


@dataclass(frozen=True)
class Metric:
    """A metric of a ranking; the metrics of the softmax are the same for every ranking of the same rows.

    Attributes
    ----------
    name : str
        What people type.
    symbol : str
        How the literature writes it.
    words : str
        What it is in plain words, with ``{}`` for the value of the parameter.
    better : {"small", "large"}
        Whether small or large values are better.
    measure : function
        The value of a ranking at a value of the parameter.
    needs : tuple of Need
        What the rows must have besides losses: ``classes`` (labels), ``softmax`` (logits), only ``known`` classes, some
        rows of ``unknown`` ones, no weights, or ``varied`` losses.
    parameter : str or None
        What ``at`` is, if the metric has a parameter.
    default : float
        The value of the parameter where none is asked for.
    """

    name: str
    symbol: str
    words: str
    better: Literal["small", "large"]
    measure: Callable[[Ranking, float], Value]
    needs: tuple[Need, ...] = ()
    parameter: str | None = None
    default: float = 1.0

    def __call__(self, ranking: Ranking, /, *, at: float | None = None) -> Value:
        """Measure a ranking at a value of the parameter, or at its default."""
        return self.measure(ranking, self.default if at is None else at)

    def title(self, *, at: float | None = None) -> str:
        """What it is in plain words, at a value of the parameter or at its default.

        >>> Metric("name", "symbol", "Risk at coverage {}", "small", lambda r, c: Value(0.0)).title(at=0.9)
        'Risk at coverage 90%'
        """
        return self.words.format(percent(self.default if at is None else at))

    def objection(self, rows: SampleRows, /) -> str | None:
        """Why the rows do not allow this metric, in words that follow "the rows have"; None if they do."""
        return next((words for need in self.needs if (words := _OBJECTIONS[need](rows))), None)


def _unknown(rows: SampleRows) -> int:
    return 0 if rows.labels is None else int(np.count_nonzero(rows.labels < 0))


_OBJECTIONS: dict[Need, Callable[[SampleRows], str | None]] = {
    "classes": lambda rows: "no labels" if rows.labels is None else None,
    "softmax": lambda rows: "no logits" if rows.logits is None else None,
    "known": lambda rows: "some unknown classes" if _unknown(rows) else None,
    "unweighted": lambda rows: None if rows.weights is None else "weights",
    "varied": lambda rows: "the same loss everywhere" if np.ptp(rows.losses) == 0 else None,
    "unknown": lambda rows: None if 0 < _unknown(rows) < len(rows) else "not both known and unknown classes",
}
