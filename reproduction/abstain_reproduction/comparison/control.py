"""The control of fitted scores: a plain score that knows only which classes are in the fitting sample.

A score fitted on a few rows learns which classes there are at all. Where a classifier has many classes that the data
lack, a prediction of one of them is nearly always wrong, and whoever ranks it last gains without knowing anything of
confidence. A fitted score has shown something where it beats this control.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.given_confidence import Own
from abstain.scores.logit_scores import ConfidenceMargin, MaxSoftmax
from abstain.scores.score import PlainScore

BASES: tuple[PlainScore, ...] = (MaxSoftmax(), ConfidenceMargin())
USUAL = tuple(base.name for base in BASES)
MARK = "|seen"


def controls(sample: Outputs, /) -> dict[str, Own]:
    """By name, plain scores that rank last what is predicted to be of a class absent from the labels of the sample."""
    seen = np.unique(np.array([], dtype=np.int64) if sample.labels is None else sample.labels)
    return {(name := base.name + MARK): Own(name, _seen_first(base, seen)) for base in BASES}


def _seen_first(base: PlainScore, seen: NDArray[np.int64]) -> Callable[[Outputs], NDArray[np.float64]]:
    def confidence(outputs: Outputs) -> NDArray[np.float64]:
        positive = np.logaddexp(0, base(outputs))  # strictly increasing, so that −1/x ranks alike below zero
        return np.where(np.isin(outputs.predictions, seen), positive, -1 / positive)

    return confidence
