"""A model of a cascade, and the confidence of several of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.scores.score import FittedScore, Score
from abstain.selector.cascades.matching import MatchedRows


@final
@dataclass(frozen=True)
class Stage:
    """A model of a cascade: its name, how its answers are scored, and its cost."""

    name: str
    entry: Score
    """The score with its options."""
    fitted: FittedScore
    n_classes: int
    cost: float
    """Of running it on one row."""


def stage_confidence(stages: Sequence[Stage], matched: MatchedRows, /) -> NDArray[np.float64]:
    """(n, K) the confidence of each stage in its own answer, NaN where it is not finite or was not run."""
    columns = np.full((len(matched), len(stages)), np.nan)
    for number, stage in enumerate(stages):
        matched.check_classes(number, stage.n_classes)
        if (here := matched.is_present(number)).any():
            columns[here, number] = stage.fitted(matched.of_stage(number))
    return columns
