"""What only some targets can do: `calibrate` asks a target whether it has the methods."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.score import Score
from abstain.selector.targets.target import Thresholds
from abstain.sketch import Sketch
from abstain.thresholds.threshold import Threshold


@runtime_checkable
class SketchTarget(Protocol):
    """Can be calibrated on counts of rows alone."""

    def threshold_of_sketch(self, sketch: Sketch, score: str, /) -> Thresholds:
        """The threshold that keeps the target, between bins."""


@runtime_checkable
class FallbackTarget(Protocol):
    """Has a threshold to use where none keeps the target."""

    def fallback(self, n: int, /) -> Threshold | None:
        """That threshold, for n rows; None where it is an error that none keeps the target."""


@runtime_checkable
class CostTarget(Protocol):
    """Knows what each answer costs."""

    @property
    def weighs_answers(self) -> bool:
        """Whether the answers are the cheapest ones, not the classifier's own."""

    def expected_cost(self, n_classes: int, /) -> Score:
        """The score of expected cost, with these costs."""


@runtime_checkable
class ScoreChecker(Protocol):
    """Does not allow every score."""

    def check_scores(self, scores: list[Score], /) -> None:
        """Raise an error for scores that cannot be used with the target."""


@runtime_checkable
class FloorTarget(Protocol):
    """Can do without the labels of rows below a floor of confidence."""

    def labelled(self, outputs: Outputs, confidence: NDArray[np.float64], /) -> Outputs:
        """The rows, each with an outcome."""
