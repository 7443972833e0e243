"""`ScoreTable`: AURC of every score, whether rows or counts of them are at hand."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstain.evaluation.compared import Behind
from abstain.evaluation.learning import Learning
from abstain.scores.score import Score

if TYPE_CHECKING:
    from abstain.evaluation.verdict import Verdict


@dataclass(frozen=True, kw_only=True, repr=False)
class ScoreTable(ABC):
    """A tidy table of AURC-α, a row for each score, mix of shifts and α; all scores see the same samples."""

    rows: list[dict[str, Any]]
    """Keys: score, mix, alpha, aurc, se, low, high, n, errors, best, tied (not significantly worse than the best)."""
    behind: Behind
    """By score, mix and α, the paired difference to the best, which is not among them."""
    further: list[dict[str, Any]]
    """Metrics that were asked for, keys: score (None for those of the softmax), mix, metric, value, se or None."""
    left_out: dict[str, str]
    """Scores that could not be computed, and why."""
    notes: tuple[str, ...]
    """What a reader should know."""
    level: float
    """Of the intervals."""
    entries: dict[str, Score]
    """The scores compared, by name."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Groups of scores that rank every sample alike, as far as rows are at hand to tell."""
    suspicion: str = ""
    """What to check before anything else, where the classifier is wrong more often than by guessing."""

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of rows evaluated."""

    @abstractmethod
    def learning(self, score: str, mix: str, alpha: float) -> Learning | None:
        """What a learned score would gain over this one, where that can be told and is significant."""

    @property
    def scores(self) -> list[str]:
        """The names of the scores compared."""
        return list(self.entries)

    @property
    def mixes(self) -> list[str]:
        """The mixes evaluated, the widest last."""
        return list(dict.fromkeys(row["mix"] for row in self.rows))

    @property
    def alphas(self) -> list[float]:
        """The coverages α evaluated."""
        return list(dict.fromkeys(row["alpha"] for row in self.rows))

    def row(self, score: str, mix: str, alpha: float) -> dict[str, Any]:
        """One row of the table."""
        for row in self.rows:
            if (row["score"], row["mix"], row["alpha"]) == (score, mix, alpha):
                return row
        raise KeyError(f"no row for score {score!r}, mix {mix!r} and alpha {alpha}")

    def column(self, mix: str, alpha: float) -> list[dict[str, Any]]:
        """The rows of a mix and α, a row for each score."""
        found = [row for row in self.rows if row["mix"] == mix and row["alpha"] == alpha]
        if not found:
            raise KeyError(f"no rows for mix {mix!r} and alpha {alpha}")
        return found

    def best(self, mix: str, alpha: float = 1.0) -> dict[str, Any]:
        """The row of the lowest AURC-α in a mix."""
        return next(row for row in self.column(mix, alpha) if row["best"])

    @property
    def verdict(self) -> "Verdict":
        """Which score to use over the widest mix, and why; printed, it is a few sentences."""
        from abstain.evaluation.verdict import verdict

        return verdict(self)

    def __str__(self) -> str:
        return str(self.verdict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain evaluate --json` prints it."""
        return {
            "n": self.n,
            "verdict": self.verdict.to_dict(),
            "rows": self.rows,
            "further": self.further,
            "left_out": self.left_out,
            "alike": [list(group) for group in self.alike],
            "notes": list(self.notes),
            "level": self.level,
        }
