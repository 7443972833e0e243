"""Two models ranked by a score of their own each, on rows that no score was chosen or fitted on."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._draws import generator
from abstain.metrics.checks import rejected_last
from abstain.outputs import Outputs
from abstain.outputs.rows import draw_rows
from abstain.scores.fitting_draw import SHARE, FittingRows
from abstain.scores.registry import AnyScore
from abstain.scores.score import Score
from abstain.selector.choice import best_on, candidates


@final
@dataclass(frozen=True)
class ScoredRun:
    """The rows of a model to compare on, and its confidence (n,) there; what cannot be used is below all."""

    outputs: Outputs
    score: Score
    confidence: NDArray[np.float64]


def scored(
    runs: tuple[Outputs, Outputs],
    scores: tuple[AnyScore | None, AnyScore | None],
    /,
    *,
    names: tuple[str, str],
    seed: int,
) -> tuple[list[ScoredRun], list[str]]:
    """Choose and fit scores on a fifth of the samples, the same of both, where there is something to choose or fit."""
    possible = [candidates(score, run) for score, run in zip(scores, runs, strict=True)]
    if all(len(each) == 1 and not each[0].needs_fitting for each in possible):
        return [_scored(score, run, run) for (score,), run in zip(possible, runs, strict=True)], []
    a, b = runs
    rng = generator("rows to fit the scores of two models on", seed, a.outcomes, b.outcomes)
    drawn = draw_rows(len(a), a.ids, size=SHARE * len(a), rng=rng)
    notes = [f"{np.count_nonzero(drawn):,} rows were drawn to choose or fit scores on, and left out of the comparison."]
    result = []
    for each, run, name in zip(possible, runs, names, strict=True):
        fitting, score = run.select(drawn), each[0]
        if len(each) > 1:
            score, *_ = best_on(each, fitting, seed=seed)
            notes.append(f"{score.name} was chosen for {name} among {len(each)} scores on those rows.")
        result.append(_scored(score, fitting, run.select(~drawn)))
    return result, notes


def _scored(score: Score, fitting: Outputs, rows: Outputs) -> ScoredRun:
    if score.needs_fitting:
        fitting = FittingRows.within(fitting).of(score)
    return ScoredRun(rows, score, rejected_last(score.fit(fitting)(rows)))
