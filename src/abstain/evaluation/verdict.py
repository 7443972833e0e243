"""Which score to use, in words, with the number and the reason."""

from dataclasses import asdict, dataclass
from typing import Any

from abstain.evaluation.evaluation import Evaluation, rejected_last
from abstain.evaluation.mixes import MIXES
from abstain.metrics import compare

BASELINE = "max_softmax"  # what people use


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The best score of the widest mix, against what people use today."""

    score: str
    mix: str
    alpha: float
    n: int
    errors: int
    aurc: float
    tied: tuple[str, ...]
    """The other scores that are not significantly worse."""
    baseline: str | None
    """What it is compared with: max_softmax, or the next best where that is not there or is the best itself."""
    baseline_aurc: float | None
    low: float | None
    high: float | None
    """Interval of the AURC of the baseline less that of the score."""

    @property
    def words(self) -> str:
        """One or two sentences."""
        where = f"{MIXES[self.mix].words} ({self.n:,} rows, {self.errors / self.n:.1%} errors)"
        if self.errors in (0, self.n):
            return (
                f"No score can be told from another: {where} every prediction is {'wrong' if self.errors else 'right'}."
            )
        if self.baseline is None or self.baseline_aurc is None:
            return f"{self.score} has AURC {100 * self.aurc:.2f} {where}."
        against = f"AURC {100 * self.aurc:.2f} against {100 * self.baseline_aurc:.2f} for {self.baseline}"
        usual = ", which people use today" if self.baseline == BASELINE else ""
        what = (
            "but the difference is not significant"
            if self.baseline in self.tied
            else "and the difference is significant"
        )
        return f"Use {self.score}: {where} it ranks best, {against}{usual}, {what}.{self._also()}"

    def _also(self) -> str:
        others = [name for name in self.tied if name != self.baseline]
        if not others:
            return ""
        named = others if len(others) <= 4 else [*others[:3], f"{len(others) - 3} more"]
        listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
        return f" As good as can be told: {listed}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"words": self.words}


def verdict(evaluation: Evaluation, /) -> Verdict:
    """Compare the best score of the widest mix, at the largest α, with the usual one on the same samples."""
    mix, alpha = evaluation.mixes[-1], max(evaluation.alphas)
    column = sorted(evaluation.column(mix, alpha), key=lambda row: float(row["aurc"]))
    best = evaluation.best(mix, alpha)
    others = [row for row in column if row["score"] != best["score"]]
    usual = next((row for row in others if row["score"] == BASELINE), others[0] if others else None)
    low = high = None
    if usual is not None:
        rows = MIXES[mix].rows(evaluation.outputs.shift)
        ids = evaluation.outputs.ids
        found = compare(
            rejected_last(evaluation.confidence[usual["score"]][rows]),
            rejected_last(evaluation.confidence[best["score"]][rows]),
            evaluation.errors[rows],
            alpha=alpha,
            ids=None if ids is None else ids[rows],
            level=evaluation.level,
        )
        low, high = found.low, found.high
    return Verdict(
        score=best["score"],
        mix=mix,
        alpha=alpha,
        n=best["n"],
        errors=best["errors"],
        aurc=best["aurc"],
        tied=tuple(row["score"] for row in others if row["tied"]),
        baseline=None if usual is None else usual["score"],
        baseline_aurc=None if usual is None else usual["aurc"],
        low=low,
        high=high,
    )
