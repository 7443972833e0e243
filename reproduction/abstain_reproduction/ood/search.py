"""Search outputs for a detector that OOD metrics prefer and that serves selection worse."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from abstain.evaluation import FittingDraw, evaluate
from abstain.outputs import Outputs
from abstain.scores.registry import AnyScore
from abstain_reproduction.draws import generator
from abstain_reproduction.ood.contest import Contest

SELECTION = "confidence_margin"
DETECTORS: tuple[AnyScore, ...] = ("vim", "residual", "knn", "energy", "max_logit", "rmds", "fdbd", "nnguide")


@dataclass(frozen=True, eq=False)
class ContestResult:
    """The clearest contest on one network: chosen on a half of the samples, and measured on the other."""

    network: str
    chosen: Contest
    measured: Contest


def clearest(
    outputs: Outputs, network: str, /, *, seed: int = 0, detectors: Sequence[AnyScore] = DETECTORS
) -> ContestResult:
    """Choose a detector on a random half of the samples; the other half is not used for the choice.

    Only samples in distribution and of unknown classes take part, as in the paper; scores that need fitting get five
    times as many rows as classes, as there.
    """
    unshifted = outputs.select(outputs.shift != "covariate")
    evaluation = evaluate(unshifted, scores=[SELECTION, *detectors], fitting=FittingDraw("paper", seed))
    rows, confidence = evaluation.outputs, evaluation.confidence
    names = [name for name in confidence if name != SELECTION]
    ids = np.arange(len(rows)) if rows.ids is None else rows.ids
    distinct, number = np.unique(ids, return_inverse=True)
    first = (generator("half of a contest", seed, distinct).random(len(distinct)) < 0.5)[number]
    contests = [Contest(rows, SELECTION, name, confidence) for name in names]
    chosen = max((contest.part(first) for contest in contests), key=lambda contest: contest.clearness)
    whole = next(contest for contest in contests if contest.detector == chosen.detector)
    return ContestResult(network, chosen, whole.part(~first))
