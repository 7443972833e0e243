"""The confidence of two models by a score of their own, on rows that no score has seen."""

from dataclasses import dataclass, field
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

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True)
class HeldOutConfidence:
    """The rows to compare on, and the confidence (n,) of both models there; what cannot be used is below all."""

    a: Outputs
    b: Outputs
    scores: tuple[Score, Score]
    confidence: tuple[Floats, Floats]
    notes: list[str] = field(default_factory=list)


def scored(
    a: Outputs,
    b: Outputs,
    score_a: AnyScore | None,
    score_b: AnyScore | None,
    /,
    *,
    names: tuple[str, str],
    seed: int,
) -> HeldOutConfidence:
    """Choose and fit scores on a fifth of the samples, drawn for both alike, where there is something to do so."""
    possible = candidates(score_a, a), candidates(score_b, b)
    if not any(len(each) > 1 or each[0].needs_fitting for each in possible):
        chosen = possible[0][0], possible[1][0]
        confidence = tuple(
            _confidence(chosen_score, run, run) for chosen_score, run in zip(chosen, (a, b), strict=True)
        )
        return HeldOutConfidence(a, b, chosen, confidence)  # type: ignore[arg-type]
    rng = generator("rows to fit the scores of two models on", seed, a.outcomes, b.outcomes)
    drawn = draw_rows(len(a), a.ids, size=SHARE * len(a), rng=rng)
    chosen_scores = [_chosen(each, run.select(drawn), seed) for each, run in zip(possible, (a, b), strict=True)]
    rest = a.select(~drawn), b.select(~drawn)
    fitted = [
        _confidence(chosen_score, run.select(drawn), left)
        for chosen_score, run, left in zip(chosen_scores, (a, b), rest, strict=True)
    ]
    notes = [f"{np.count_nonzero(drawn):,} rows were drawn to choose or fit scores on, and left out of the comparison."]
    notes += [
        f"{chosen_score.name} was chosen for {name} among {len(each)} scores on those rows."
        for chosen_score, name, each in zip(chosen_scores, names, possible, strict=True)
        if len(each) > 1
    ]
    return HeldOutConfidence(*rest, (chosen_scores[0], chosen_scores[1]), (fitted[0], fitted[1]), notes)


def _chosen(possible: list[Score], rows: Outputs, seed: int) -> Score:
    if len(possible) == 1:
        return possible[0]
    return best_on(possible, rows, seed=seed)[0]


def _confidence(score: Score, fitting: Outputs, rows: Outputs) -> Floats:
    if score.needs_fitting:
        fitting = FittingRows.within(fitting).of(score)
    return rejected_last(score.fit(fitting)(rows))
