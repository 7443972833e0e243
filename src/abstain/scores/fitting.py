"""What fitted scores have in common: options with ``.fit``, then a frozen function of outputs."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs


class CannotFitError(ValueError):
    """The calibration sample lacks what a score needs to be fitted."""


@dataclass(frozen=True, eq=False)
class Fitted(ABC):
    """A fitted score: constants from a calibration sample, called on outputs. Its fields are all there is to store."""

    @abstractmethod
    def __call__(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,) of every row."""


class Fitter(ABC):
    """The options of a score that is fitted on a calibration sample; fitting changes nothing in them."""

    @abstractmethod
    def fit(self, calibration: Outputs, /) -> Fitted:
        """The fitted score; raises `CannotFitError` where the sample does not determine it."""


def features_of(outputs: Outputs, /) -> NDArray[Any]:
    """The features, or an error that names them."""
    if outputs.features is None:
        raise ValueError("`outputs` must have features for this score, got none. Pass features= to Outputs.")
    return outputs.features


def head_of(outputs: Outputs, /) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight and bias of the last layer in float64; a missing bias is zero."""
    if outputs.weight is None:
        raise ValueError("`outputs` must have a head for this score, got none. Pass weight= and bias= to Outputs.")
    bias = np.zeros(outputs.n_classes) if outputs.bias is None else outputs.bias
    return outputs.weight.astype(np.float64), bias.astype(np.float64)


def right_and_wrong(calibration: Outputs, /) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Masks of the correct and of the wrong predictions, of which there must be some of each."""
    wrong = calibration.errors
    if not wrong.any() or wrong.all():
        kind = "wrong" if not wrong.any() else "correct"
        raise CannotFitError(f"the calibration sample of {len(calibration)} rows has no {kind} prediction")
    return ~wrong, wrong
