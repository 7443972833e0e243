"""Whether a learned score would pay: all scores weighed on half of the rows, and judged on the other half."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.draws import generator
from abstain.evaluation.evaluation import Evaluation
from abstain.evaluation.mixes import MIXES
from abstain.metrics import aurc, compare
from abstain.outputs.draw import draw_rows
from abstain.scores.logistic import fit_logistic
from abstain.scores.quantile_map import QuantileMap

Floats = NDArray[np.float64]
LARGEST, LEARNING = 6000, 1000  # rows, and those of them to learn on: more make it slow
FEWEST = 20  # right and wrong rows to learn from
RIDGE = 100.0  # towards the recommended score, which is as good as free
FREE = 0.3


@dataclass(frozen=True, kw_only=True)
class Learning:
    """AURC-α of a combination of all scores, and of the score it is compared with, on rows it was not learned from."""

    learned: float
    alone: float
    learned_from: int
    n: int


def learning(evaluation: Evaluation, /, *, score: str, mix: str, alpha: float) -> Learning | None:
    """The combination, if it is significantly better than the score alone; None also where too few rows can tell."""
    rows = _rows(evaluation, mix)
    if len(evaluation.scores) < 2 or not evaluation.outputs.n_classes or len(rows) < 2 * FEWEST:
        return None
    ids, wrong = evaluation.outputs.samples[0][rows], evaluation.errors[rows]
    rng = generator("halves to learn and judge on", 0, ids, evaluation.confidence[score][rows])
    here = draw_rows(len(rows), ids, size=min(len(rows) / 2, LEARNING), rng=rng)
    names = [score, *(name for name in evaluation.scores if name != score)]
    if min(np.count_nonzero(wrong[here]), np.count_nonzero(~wrong[here])) < FEWEST or here.all():
        return None
    combined = _combined([evaluation.confidence[name][rows] for name in names], ~wrong, here)
    alone, judged = evaluation.confidence[score][rows][~here], wrong[~here]
    found = compare(combined, alone, judged, alpha=alpha, ids=ids[~here], level=evaluation.level)
    if found.high >= 0:
        return None
    area = aurc(combined, judged, alpha=alpha)
    return Learning(learned=area, alone=area - found.difference, learned_from=int(here.sum()), n=len(judged))


def _rows(evaluation: Evaluation, mix: str) -> NDArray[np.int64]:
    """The usable rows of a mix, evenly spaced ones of many."""
    found = np.flatnonzero(MIXES[mix].rows(evaluation.outputs.shift) & evaluation.outputs.usable)
    return found[:: max(1, -(-len(found) // LARGEST))]


def _combined(confidence: list[Floats], right: NDArray[np.bool_], here: NDArray[np.bool_]) -> Floats:
    """Log-odds of being right on the other rows, the first score free and the others held back."""
    maps = [QuantileMap.of(values[here]) for values in confidence]
    places = np.column_stack([place(values) for place, values in zip(maps, confidence, strict=True)])
    ridge = np.where(np.arange(len(maps)) == 0, FREE, RIDGE)
    weights = fit_logistic(places[here], right[here].astype(np.float64), ridge=ridge)
    found: Floats = weights[0] + places[~here] @ weights[1:]
    return found
