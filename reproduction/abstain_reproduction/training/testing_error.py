"""By how much the areas of two networks on the same test images differ by chance of the images."""

from collections.abc import Mapping
from math import fsum

import numpy as np

from abstain.evaluation import MIXES, Evaluation
from abstain.evaluation.score_comparison import Ranked
from abstain.metrics.clusters import error_of_sums
from abstain.metrics.influence import Influence, aurc_influence

Influences = Mapping[str, Influence]
"""By score and mix, as "confidence_margin in"."""


def influences(evaluation: Evaluation, /) -> Influences:
    """What each image does to each AURC of a network."""
    ranked = Ranked.of(evaluation.outputs, evaluation.confidence)
    return {
        f"{score} {mix}": aurc_influence(ranking)
        for mix in evaluation.mixes
        for score, ranking in ranked.on(MIXES[mix]).rankings().items()
    }


def errors_of_testing(first: Influences, second: Influences, /) -> dict[str, float]:
    """The standard error of each difference of AURC, paired by image although the networks err on different ones."""
    return {key: _error(first[key], second[key]) for key in first if key in second}


def _error(first: Influence, second: Influence) -> float:
    squares = fsum(np.square(first.sums - second.sums).tolist())  # whatever the order of the images
    return error_of_sums(squares, len(first.sums), len(first.rows))
