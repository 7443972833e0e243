"""What fitted scores have in common: options with ``.fit``, then a frozen function of outputs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.outputs.expected import expect_outputs


class CannotFitError(ValueError):
    """The calibration sample lacks what a score needs to be fitted."""


@dataclass(frozen=True, eq=False)
class Fitted(ABC):
    """A fitted score: constants from a calibration sample, called on outputs. Its fields are all there is to store."""

    def __call__(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,) of every row, NaN where a row is not usable."""
        expect_outputs(outputs)
        have = {
            "features": None if outputs.features is None else outputs.features.shape[1],
            "classes": outputs.n_classes,
        }
        for what, size in self.expects().items():
            if have[what] not in (None, size):
                raise ValueError(f"`outputs` must have {size} {what}, as the calibration sample had, got {have[what]}.")
        return score_usable(outputs, self._score)

    @abstractmethod
    def expects(self) -> dict[str, int]:
        """The number of ``features`` or ``classes`` that outputs must have."""

    @abstractmethod
    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence of usable rows."""

    @abstractmethod
    def portable(self, logits: Any, features: Any, head: Any, /) -> Any:
        """The same on float64 arrays of any library: torch tensors, nodes of an ONNX graph."""


class Fitter(ABC):
    """The options of a score that is fitted on a calibration sample; fitting changes nothing in them."""

    def fit(self, calibration: Outputs, /) -> Any:
        """The fitted score; `CannotFitError` where the sample does not determine it. Rows not usable are left out."""
        expect_outputs(calibration, name="calibration")
        if not calibration.usable.any():
            raise CannotFitError("the calibration sample has no usable row")
        return self._fit(calibration if calibration.usable.all() else calibration.select(calibration.usable))

    @abstractmethod
    def _fit(self, calibration: Outputs, /) -> Fitted:
        """The fitted score of usable rows."""


def score_usable(outputs: Outputs, score: Callable[[Outputs], NDArray[Any]], /) -> NDArray[np.float64]:
    """Confidence of the usable rows, and NaN, which no threshold accepts, for the others."""
    if outputs.usable.all():
        return np.asarray(score(outputs), dtype=np.float64)
    confidence = np.full(len(outputs), np.nan)
    if outputs.usable.any():
        confidence[outputs.usable] = score(outputs.select(outputs.usable))
    return confidence


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
