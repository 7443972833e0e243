"""By how much the areas of two networks on the same test images differ by chance of the images."""

from collections.abc import Mapping

from abstain.evaluation import MIXES, Evaluation
from abstain.evaluation.compared import Ranked
from abstain.kernels.sums import squared_distance
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


def errors_of_testing(one: Influences, other: Influences, /) -> dict[str, float]:
    """The standard error of each difference of AURC, paired by image although the networks err on different ones."""
    return {key: _error(one[key], other[key]) for key in one if key in other}


def _error(one: Influence, other: Influence) -> float:
    return error_of_sums(squared_distance(one.sums, other.sums), len(one.sums), len(one.rows))
