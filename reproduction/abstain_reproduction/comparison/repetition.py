"""Scores compared over several draws of their fitting rows, and with a control that knows only the classes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.evaluation import Evaluation, evaluate
from abstain.evaluation.mixes import MIXES
from abstain.evaluation.score_comparison import Ranked
from abstain.metrics.compare import ScoreDifference, paired
from abstain.metrics.estimates import estimates
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import rows_per_class
from abstain_reproduction.comparison.control import USUAL, controls
from abstain_reproduction.paper.areas import EQ_11

Floats = NDArray[np.float64]
DRAWS = 5
Key = tuple[str, str, float]  # score, mix, α


@dataclass(frozen=True)
class RepetitionRow:
    """A score, mix and α over all draws in which the score could be fitted."""

    score: str
    mix: str
    alpha: float
    aurc: float
    """The mean over the draws."""
    spread: float
    """The standard deviation over the draws; rows to fit on leave the evaluation, so plain scores have one too."""
    gain: float
    """AURC of the control less that of the score, the mean over the draws: above zero the score is better.

    The control is, in each draw, the best of SR_max and RL_conf-M, as they are or with absent classes last.
    """
    better: int
    """Draws in which the score is significantly better than the control (paired, copies counted once)."""
    worse: int
    """Draws in which it is significantly worse."""
    tied: int
    """Draws in which it is not significantly worse than the best of all scores."""
    draws: int


@dataclass(frozen=True)
class Repetition:
    """All draws together, and the evaluation of each."""

    evaluations: tuple[Evaluation, ...]
    rows: tuple[RepetitionRow, ...]

    @property
    def first(self) -> Evaluation:
        """The evaluation of the first draw."""
        return self.evaluations[0]

    def row(self, score: str, mix: str, alpha: float = 1.0) -> RepetitionRow | None:
        """One row, or None where the score could not be fitted."""
        return next((row for row in self.rows if (row.score, row.mix, row.alpha) == (score, mix, alpha)), None)


def repeat(outputs: Outputs, /, *, seed: int, draws: int = DRAWS) -> Repetition:
    """Evaluate all scores and the controls on ``draws`` draws of five times as many rows as classes, as the paper took.

    Each draw has its own seed; the drawn rows are left out of the evaluation of every score.
    """
    if draws < 1:
        raise InvalidInputError(f"`draws` must be at least 1, got {draws}.")
    results_by_key: dict[Key, list[_DrawResult]] = {}
    evaluations = []
    for draw in range(draws):
        drawn, kept = rows_per_class(outputs, seed=seed + draw)
        sample, rest = outputs.select(drawn), outputs.select(kept)
        evaluation = evaluate(rest, scores=["all", EQ_11, *USUAL], fitting=sample)
        evaluations.append(evaluation)
        for key, result in _results(evaluation, confidences(rest, controls(sample))).items():
            results_by_key.setdefault(key, []).append(result)
    return Repetition(tuple(evaluations), tuple(_row(key, results) for key, results in results_by_key.items()))


class _DrawResult(NamedTuple):
    """A score, mix and α in one draw."""

    aurc: float
    gain: ScoreDifference
    tied: bool


def _results(evaluation: Evaluation, plain: dict[str, Floats]) -> dict[Key, _DrawResult]:
    """Every score compared with the control and with the best score of its mix and α."""
    results: dict[Key, _DrawResult] = {}
    alphas, level = evaluation.alphas, evaluation.level
    ranked = Ranked.of(evaluation.outputs, evaluation.confidence | plain)
    for mix in evaluation.mixes:
        rankings = ranked.on(MIXES[mix]).rankings()
        areas = {score: estimates(ranking, alphas=alphas, level=level) for score, ranking in rankings.items()}
        for index, alpha in enumerate(alphas):
            control = min((areas[name][index] for name in (*plain, *USUAL)), key=lambda area: area.value)
            best = min((by_alpha[index] for by_alpha in areas.values()), key=lambda area: area.value)
            for score, by_alpha in areas.items():
                gain, lag = (
                    paired(*pair, level=level) for pair in ((control, by_alpha[index]), (by_alpha[index], best))
                )
                results[score, mix, alpha] = _DrawResult(by_alpha[index].value, gain, lag.low <= 0)
    return results


def _row(key: Key, each: list[_DrawResult]) -> RepetitionRow:
    areas = np.array([once.aurc for once in each])
    return RepetitionRow(
        *key,
        aurc=float(areas.mean()),
        spread=float(areas.std(ddof=1)) if len(areas) > 1 else 0.0,
        gain=float(np.mean([once.gain.difference for once in each])),
        better=sum(once.gain.low > 0 for once in each),
        worse=sum(once.gain.high < 0 for once in each),
        tied=sum(once.tied for once in each),
        draws=len(each),
    )
