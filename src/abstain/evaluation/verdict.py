"""Which score to use, in words, with the number and the reason."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from abstain._text import listed, mean_of_outcomes
from abstain.evaluation.learned_gain import Learning
from abstain.evaluation.mixes import MIXES, mix_among
from abstain.evaluation.score_table import ScoreTable
from abstain.metrics.aurc import area_name

BASELINE = "max_softmax"  # the usual baseline


@dataclass(frozen=True, kw_only=True)
class ScoreVerdict:
    """The score to use on a mix: the simplest of the best one and those that are not significantly worse.

    The usual baseline is the simplest, then what needs no fitting, then what needs no features.

    Attributes
    ----------
    score : str
        The score to use.
    score_aurc : float
        Its AURC-α.
    spares : tuple of str
        What the best score needs and this one does not.
    mix : str
        The name of the mix.
    where : str
        The rows of the mix, in words.
    alpha : float
        The largest coverage that counts.
    n : int
        The number of rows.
    errors : float
        The number of errors among them, or the total of graded losses.
    best : str
        The score of lowest AURC-α.
    aurc : float
        The AURC-α of the best.
    tied : tuple of str
        The other scores that are not significantly worse.
    baseline : str or None
        What the best is compared with: max_softmax, or the next best where that is not there or is the best itself.
    baseline_aurc : float or None
        Its AURC-α.
    low : float or None
        The lower end of the interval of the baseline's AURC-α less that of the best.
    high : float or None
        Its upper end.
    elsewhere : tuple of tuples
        Other α where this score is significantly worse than the best, each with the best score there.
    worse : tuple of tuples
        Other mixes where this score is significantly worse than the best and worse than the usual baseline, with the
        AURC-α of this score and of the baseline.
    learning : Learning or None
        The AURC-α of a learned combination of scores and of this one, where the difference is significant.
    alike : tuple of tuples
        Groups of scores that rank identically.
    suspicion : str
        What to check first, where the classifier is wrong more often than by guessing.
    """

    score: str
    score_aurc: float
    spares: tuple[str, ...]
    mix: str
    where: str
    alpha: float
    n: int
    errors: float
    best: str
    aurc: float
    tied: tuple[str, ...]
    baseline: str | None
    baseline_aurc: float | None
    low: float | None
    high: float | None
    elsewhere: tuple[tuple[float, str], ...]
    worse: tuple[tuple[str, float, float], ...]
    learning: Learning | None
    alike: tuple[tuple[str, ...], ...] = ()
    suspicion: str = ""

    def __str__(self) -> str:
        return self.words

    @property
    def words(self) -> str:
        """A few sentences, what is to be checked first among them."""
        return f"{self.suspicion} {self._advice()}".strip()

    def _advice(self) -> str:
        where = f"{self.where} ({self.n:,} rows, {mean_of_outcomes(self.errors, self.n)})"
        area = area_name(self.alpha)
        if self.errors in (0, self.n):
            what = "wrong" if self.errors else "right"
            return f"No score can be called better: {where} every answer is {what}."
        if self.baseline is None or self.baseline_aurc is None:
            return f"{self.best} has {area} {100 * self.aurc:.2f}% {where}.{self._alike()}"
        against = f"{area} {100 * self.aurc:.2f}% against {100 * self.baseline_aurc:.2f}% for {self.baseline}"
        usual = ", the usual baseline" if self.baseline == BASELINE else ""
        if self.score != self.best and self.score == BASELINE:
            first = f"Stay with {self.score}, the usual baseline: {where} {self.best} ranks best, {against}, but the "
            return f"{first}difference is not significant.{self._also()}"
        if self.score != self.best:
            return (
                f"Use {self.score}: {where} {self.best} ranks best, {against}{usual}, but {self.score} needs no "
                f"{' and no '.join(self.spares)} and its {100 * self.score_aurc:.2f}% is not significantly worse."
                f"{self._also()}"
            )
        significance = (
            "but the difference is not significant"
            if self.baseline in self.tied
            else "and the difference is significant"
        )
        return f"Use {self.score}: {where} it ranks best, {against}{usual}, {significance}.{self._also()}"

    def _alike(self) -> str:
        return "".join(f" {len(group)} scores rank identically: {', '.join(group)}." for group in self.alike)

    def _also(self) -> str:
        same = {self.score, *next((group for group in self.alike if self.score in group), ())}
        others = [name for name in self.tied if name not in (self.baseline, *same)]
        words = f" Statistically tied: {listed(_some(others))}." if others else ""
        words += self._alike()
        if self.elsewhere:
            items = [f"{best} at coverages up to {alpha:g}" for alpha, best in self.elsewhere]
            words += f" Better where less is accepted: {listed(_some(items))}."
        if self.worse:
            items = [
                f"{MIXES[mix].words} ({100 * usual:.2f}% against {100 * own:.2f}%)" for mix, own, usual in self.worse
            ]
            words += f" {BASELINE} is ahead of {self.score} {listed(_some(items))}."
        if self.learning is not None:
            gain = self.learning
            words += (
                f" A learned score would pay: all scores, weighed on {gain.learned_from:,} of these rows, have "
                f"{100 * gain.learned:.2f}% on {gain.n:,} others, where {self.score} has {100 * gain.alone:.2f}%; "
                "ask for it by name, learned."
            )
        return words

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"words": self.words}


def verdict(evaluation: ScoreTable, /, *, mix: str | None = None, alpha: float | None = None) -> ScoreVerdict:
    """Which score to use on a mix of shifts, by default the widest and at the largest α.

    Parameters
    ----------
    evaluation : Evaluation or SketchedEvaluation
        The scores compared.
    mix, alpha : str, float, optional
        The column that decides.

    Returns
    -------
    ScoreVerdict
        Printed, a few sentences. An evaluation that has its rows also fits a combination of all scores on half of
        them, and reports whether a learned score would pay.
    """
    stored = verdict_of_table(evaluation, mix=mix, alpha=alpha)
    return replace(stored, learning=evaluation.learning(stored.score, stored.mix, stored.alpha))


def verdict_of_table(evaluation: ScoreTable, /, *, mix: str | None = None, alpha: float | None = None) -> ScoreVerdict:
    """The same from the table alone: nothing is fitted."""
    mix, alpha = mix or evaluation.mixes[-1], max(evaluation.alphas) if alpha is None else alpha
    best = evaluation.best(mix, alpha)
    others = [row for row in evaluation.column(mix, alpha) if row.score != best.score]
    others.sort(key=lambda row: row.aurc)
    same = next((group for group in evaluation.alike if best.score in group), ())
    apart_from = [row for row in others if row.score not in same]
    usual = next((row for row in apart_from if row.score == BASELINE), apart_from[0] if apart_from else None)
    apart = None if usual is None else evaluation.behind[usual.score, mix, alpha]
    tied = tuple(row.score for row in others if row.tied)
    score = _simplest([best.score, *tied], evaluation)
    spared = set(evaluation.entries[best.score].needs) - set(evaluation.entries[score].needs)
    lower = [other for other in evaluation.alphas if other < alpha and not evaluation.row(score, mix, other).tied]
    return ScoreVerdict(
        score=score,
        score_aurc=evaluation.row(score, mix, alpha).aurc,
        spares=tuple(need for need in ("fitting", "features") if need in spared),
        mix=mix,
        where=mix_among(mix, evaluation.mixes).words,
        alpha=alpha,
        n=best.n,
        errors=best.errors,
        best=best.score,
        aurc=best.aurc,
        tied=tied,
        baseline=None if usual is None else usual.score,
        baseline_aurc=None if usual is None else usual.aurc,
        low=None if apart is None else apart.low,
        high=None if apart is None else apart.high,
        worse=_worse(evaluation, score, mix, alpha),
        learning=None,
        alike=evaluation.alike,
        suspicion=evaluation.suspicion,
        elsewhere=tuple((other, evaluation.best(mix, other).score) for other in lower),
    )


def _simplest(scores: list[str], evaluation: ScoreTable) -> str:
    """Of scores from the best to the worst, the first of the simplest."""
    return BASELINE if BASELINE in scores else min(scores, key=lambda score: evaluation.entries[score].effort)


def _worse(evaluation: ScoreTable, score: str, mix: str, alpha: float) -> tuple[tuple[str, float, float], ...]:
    if BASELINE not in evaluation.scores:
        return ()
    mixes = []
    for other in evaluation.mixes:
        own, usual = (evaluation.row(name, other, alpha) for name in (score, BASELINE))
        if other != mix and not own.tied and own.aurc > usual.aurc:
            mixes.append((other, own.aurc, usual.aurc))
    return tuple(mixes)


def _some(names: list[str]) -> list[str]:
    """The names, or three of more than four and how many others there are."""
    return names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"]
