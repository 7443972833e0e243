"""Scores compared with the best of the paper's ten, on rows drawn from the mix that they were fitted for."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.evaluation.mixes import MIXES, Mix, mixes_of
from abstain.evaluation.score_comparison import Ranked
from abstain.metrics.compare import paired
from abstain.metrics.estimates import estimates
from abstain.metrics.intervals import ALPHAS
from abstain.outputs import Outputs
from abstain.scores import PAPER
from abstain.scores.confidences import confidences
from abstain.scores.fitting_draw import FittingRows, fit_each
from abstain.scores.neighbours import KNN
from abstain.scores.registry import SCORES
from abstain.scores.score import FittedScore
from abstain_reproduction.draws import generator

Floats = NDArray[np.float64]
SIZES = (50, 300, 1000, 3000)
TEN = tuple(score.name for score in PAPER if score != KNN(space="logits"))
JUDGED = 6000  # rows, of those left
LEFT = 0.5  # of the samples, to be judged on


@dataclass(frozen=True)
class ScoreCell:
    """A score in one mix at one α, and the lowest AURC-α of the paper's ten on the same rows."""

    model: str
    size: int
    score: str
    learned_in: str
    """The mix of the labelled rows."""
    mix: str
    """The mix that it is judged in."""
    alpha: float
    aurc: float
    best: float
    outcome: int
    """1 if significantly better (paired, clustered, 95% for itself), −1 if worse, 0 if tied."""


def labelled_and_fresh(outputs: Outputs, mix: Mix, size: int, /, *, seed: int) -> tuple[Outputs, Outputs] | None:
    """So many rows of a mix, one of each sample, and rows of other samples; None where too few would be left."""
    rng = generator("rows to learn and to judge on", seed, [len(outputs), size])
    chosen = outputs.select(mix.rows(outputs.shift) & outputs.usable)
    sample, count = chosen.samples
    if size > (1 - LEFT) * count:
        return None
    order = rng.permutation(len(chosen))
    _, first = np.unique(sample[order], return_index=True)
    ones = order[np.sort(first)[:size]]
    rest = rng.permutation(np.flatnonzero(~np.isin(sample, sample[ones])))[:JUDGED]
    return chosen.select(np.sort(ones)), chosen.select(np.sort(rest))


def fitted_scores(rows: Outputs, /) -> dict[str, FittedScore]:
    """Every score that these rows allow and determine."""
    fitting = FittingRows(rows.select(rows.shift == "none"), rows)
    allowed = (score for score in SCORES.values() if score.objection(rows) is None)
    return fit_each(allowed, fitting)[0]


def cells(model: str, outputs: Outputs, /, *, seed: int, sizes: tuple[int, ...] = SIZES) -> Iterator[ScoreCell]:
    """Every score, judged in the mix of its labelled rows, and what was learned of all shifts in the other mixes."""
    present = [mix for mix in mixes_of(outputs)[0] if (outputs.errors & mix.rows(outputs.shift)).any()]
    for size in sizes:
        for mix in present:
            if (parts := labelled_and_fresh(outputs, mix, size, seed=seed)) is None:
                continue
            rows, rest = parts
            confidence = confidences(rest, fitted_scores(rows))
            yield from judged_cells(model, size, confidence, rest, mix, mix)
            few = {name: values for name, values in confidence.items() if name in (*TEN, "learned")}
            if mix is present[-1]:
                for other in present[:-1]:
                    yield from judged_cells(model, size, few, rest, mix, other)


def judged_cells(
    model: str, size: int, confidence: dict[str, Floats], rest: Outputs, mix: Mix, other: Mix
) -> Iterator[ScoreCell]:
    """Every confidence compared with the best of the ten, learned in one mix and judged in another."""
    if not (rest.errors & other.rows(rest.shift)).any():
        return
    rankings = Ranked.of(rest, confidence).on(MIXES[other.name]).rankings()
    areas = {name: estimates(ranking, alphas=ALPHAS) for name, ranking in rankings.items()}
    for index, alpha in enumerate(ALPHAS):
        best = min((areas[name][index] for name in TEN if name in areas), key=lambda area: area.value)
        for name, each in areas.items():
            apart = paired(each[index], best)
            outcome = int(apart.high < 0) - int(apart.low > 0)
            yield ScoreCell(model, size, name, mix.name, other.name, alpha, each[index].value, best.value, outcome)
