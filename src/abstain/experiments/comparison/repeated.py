"""Scores compared over several draws of the rows they are fitted on, beside the control that knows only the classes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation import Evaluation, evaluate
from abstain.evaluation.compared import Ranked
from abstain.evaluation.mixes import MIXES
from abstain.experiments.comparison.control import USUAL, controls
from abstain.experiments.paper.areas import EQ_11
from abstain.metrics.compare import Comparison, paired
from abstain.metrics.intervals import estimates
from abstain.outputs import Outputs
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import draw_per_class

Floats = NDArray[np.float64]
DRAWS = 5
Key = tuple[str, str, float]  # score, mix, α


@dataclass(frozen=True)
class Repeated:
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
    rows: tuple[Repeated, ...]

    @property
    def first(self) -> Evaluation:
        """The evaluation of the first draw."""
        return self.evaluations[0]

    def row(self, score: str, mix: str, alpha: float = 1.0) -> Repeated | None:
        """One row, or None where the score could not be fitted."""
        return next((row for row in self.rows if (row.score, row.mix, row.alpha) == (score, mix, alpha)), None)


def repeat(outputs: Outputs, /, *, seed: int, draws: int = DRAWS) -> Repetition:
    """Evaluate all scores and the controls on ``draws`` draws of five rows per class to fit on, as the paper took them.

    Each draw has a seed of its own; what is drawn leaves the evaluation for all scores alike.
    """
    if draws < 1:
        raise ValueError(f"`draws` must be at least 1, got {draws}.")
    found: dict[Key, list[_Once]] = {}
    evaluations = []
    for draw in range(draws):
        sample, rest = draw_per_class(outputs, seed=seed + draw)
        evaluation = evaluate(rest, scores=["all", EQ_11, *USUAL], fitting=sample)
        evaluations.append(evaluation)
        for key, once in _measured(evaluation, confidences(rest, controls(sample))).items():
            found.setdefault(key, []).append(once)
    return Repetition(tuple(evaluations), tuple(_row(key, each) for key, each in found.items()))


class _Once(NamedTuple):
    """A score, mix and α in one draw."""

    aurc: float
    gain: Comparison
    tied: bool


def _measured(evaluation: Evaluation, plain: dict[str, Floats]) -> dict[Key, _Once]:
    """Every score beside the control and the best score of its mix and α."""
    found: dict[Key, _Once] = {}
    alphas, level = evaluation.alphas, evaluation.level
    ranked = Ranked.of(evaluation.outputs, evaluation.confidence | plain)
    for mix in evaluation.mixes:
        rankings = ranked.on(MIXES[mix]).rankings()
        areas = {score: estimates(one, alphas=alphas, level=level) for score, one in rankings.items()}
        for place, alpha in enumerate(alphas):
            control = min((areas[name][place] for name in (*plain, *USUAL)), key=lambda area: area.value)
            best = min((ones[place] for ones in areas.values()), key=lambda area: area.value)
            for score, ones in areas.items():
                gain, lag = (paired(*pair, level=level) for pair in ((control, ones[place]), (ones[place], best)))
                found[score, mix, alpha] = _Once(ones[place].value, gain, lag.low <= 0)
    return found


def _row(key: Key, each: list[_Once]) -> Repeated:
    areas = np.array([once.aurc for once in each])
    return Repeated(
        *key,
        aurc=float(areas.mean()),
        spread=float(areas.std(ddof=1)) if len(areas) > 1 else 0.0,
        gain=float(np.mean([once.gain.difference for once in each])),
        better=sum(once.gain.low > 0 for once in each),
        worse=sum(once.gain.high < 0 for once in each),
        tied=sum(once.tied for once in each),
        draws=len(each),
    )
