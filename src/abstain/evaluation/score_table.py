"""`ScoreTable`: AURC-α of every score, from rows or from counts."""

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, final

from abstain._cached_property import cached_property
from abstain._errors import MissingRowError
from abstain.evaluation.learned_gain import Learning
from abstain.metrics.compare import ScoreDifference
from abstain.scores.score import Score

if TYPE_CHECKING:
    from abstain.evaluation.verdict import ScoreVerdict

Behind = dict[tuple[str, str, float], ScoreDifference]
"""By score, mix and α, the paired difference to the score of lowest AURC-α."""


@final
@dataclass(frozen=True, kw_only=True)
class AreaRow:
    """AURC-α of a score on a mix of shifts.

    Attributes
    ----------
    score : str
        The name of the score.
    mix : str
        The name of the mix.
    alpha : float
        The largest coverage that counts.
    aurc : float
        AURC-α, as a fraction.
    se : float
        Its standard error.
    low : float
        The lower end of its interval.
    high : float
        The upper end of its interval.
    n : int
        Rows of the mix.
    errors : float
        The number of errors, an integer, or the total of graded losses.
    best : bool
        Whether no score has a lower AURC-α.
    tied : bool
        Whether it is not significantly worse than the best.
    lower : float or None
        A certain lower bound of a value that was computed from counts in bins, else None.
    upper : float or None
        A certain upper bound of it.
    """

    score: str
    mix: str
    alpha: float
    aurc: float
    se: float
    low: float
    high: float
    n: int
    errors: float
    best: bool
    tied: bool
    lower: float | None = None
    upper: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; bounds only where there are some."""
        row = asdict(self)
        return row if self.lower is not None else {key: row[key] for key in row if key not in ("lower", "upper")}


@final
@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """An extra metric of a score on a mix of shifts.

    Attributes
    ----------
    score : str or None
        The name of the score; None for metrics of the softmax, which are no score's.
    mix : str
        The name of the mix.
    metric : str
        The name of the metric.
    value : float
        Its value.
    se : float or None
        Its standard error.
    low : float or None
        The lower end of its interval.
    high : float or None
        The upper end of its interval.
    """

    score: str | None
    mix: str
    metric: str
    value: float
    se: float | None
    low: float | None
    high: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoreTable(ABC):
    """A tidy table of AURC-α, a row for each score, mix of shifts and α; all scores see the same samples."""

    n: int
    """The number of rows evaluated."""
    areas: tuple[AreaRow, ...]
    behind: Behind
    """By score, mix and α, the paired difference to the best, which is not among them."""
    extra: tuple[MetricRow, ...]
    """The extra metrics that were asked for."""
    left_out: dict[str, str]
    """Scores that could not be computed, and why."""
    notes: tuple[str, ...]
    """What a reader should know."""
    level: float
    """Of the intervals."""
    entries: dict[str, Score]
    """The scores compared, by name."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Groups of scores that rank identically; known only where rows are there, not counts."""
    suspicion: str = ""
    """What to check before anything else, where the classifier is wrong more often than by guessing."""

    @abstractmethod
    def learning(self, score: str, mix: str, alpha: float) -> Learning | None:
        """What a learned score would gain over this one, where that is known and significant."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table as plain data.

        Keys: score, mix, alpha, aurc, se, low, high, n, errors, best, tied (not significantly worse than the best).
        """
        return [row.to_dict() for row in self.areas]

    @property
    def extra_metrics(self) -> list[dict[str, Any]]:
        """The extra metrics as plain data: score (None for those of the softmax), mix, metric, value, se, low, high."""
        return [row.to_dict() for row in self.extra]

    @property
    def scores(self) -> list[str]:
        """The names of the scores compared."""
        return list(self.entries)

    @property
    def mixes(self) -> list[str]:
        """The mixes evaluated, the widest last."""
        return list(dict.fromkeys(mix for mix, _ in self._columns))

    @property
    def alphas(self) -> list[float]:
        """The coverages α evaluated."""
        return list(dict.fromkeys(alpha for _, alpha in self._columns))

    def row(self, score: str, mix: str, alpha: float) -> AreaRow:
        """The row of a score, mix and α."""
        row = self._columns.get((mix, alpha), {}).get(score)
        if row is None:
            raise MissingRowError(
                f"No row has score {score!r}, mix {mix!r} and alpha {alpha}. There are {self._keys()}."
            )
        return row

    def column(self, mix: str, alpha: float) -> list[AreaRow]:
        """The rows of a mix and α, a row for each score."""
        if (mix, alpha) not in self._columns:
            raise MissingRowError(f"No row has mix {mix!r} and alpha {alpha}. There are {self._keys()}.")
        return list(self._columns[mix, alpha].values())

    def _keys(self) -> str:
        """What rows are looked up by, in words."""
        alphas = ", ".join(f"{alpha:g}" for alpha in self.alphas)
        return f"scores {', '.join(self.scores)}; mixes {', '.join(self.mixes)}; alphas {alphas}"

    def best(self, mix: str, alpha: float = 1.0) -> AreaRow:
        """The row of the lowest AURC-α in a mix."""
        return next(row for row in self.column(mix, alpha) if row.best)

    @property
    def verdict(self) -> "ScoreVerdict":
        """Which score to use over the widest mix, and why; printed, it is a few sentences."""
        from abstain.evaluation.verdict import verdict

        return verdict(self)

    def __str__(self) -> str:
        from abstain.evaluation.verdict import verdict_of_table

        return str(verdict_of_table(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain evaluate --json` prints it."""
        return {
            "n": self.n,
            "verdict": self.verdict.to_dict(),
            "rows": self.rows,
            "further": self.extra_metrics,
            "left_out": self.left_out,
            "alike": [list(group) for group in self.alike],
            "notes": list(self.notes),
            "level": self.level,
        }

    @cached_property
    def _columns(self) -> dict[tuple[str, float], dict[str, AreaRow]]:
        """By mix and α, the rows by score."""
        columns: dict[tuple[str, float], dict[str, AreaRow]] = {}
        for row in self.areas:
            columns.setdefault((row.mix, row.alpha), {})[row.score] = row
        return columns
