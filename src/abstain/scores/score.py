"""What the registry knows of a score: its names, what it needs, how to get from `Outputs` to confidence."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.kernels.rows import RowSums
from abstain.outputs import Outputs
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, score_usable
from abstain.scores.norms import row_norms
from abstain.scores.rows import Array, logit_rows

Need = Literal["logits", "features", "head", "calibration", "labels", "given"]
Confidence = Callable[[Outputs], NDArray[Any]]


def unchanged(confidence: Array, /) -> Array:
    """The literal value of a score whose confidence is the paper's value already."""
    return confidence


def minus_exp(confidence: Array, /) -> Array:
    """The literal value −e^−c of scores whose confidence is minus the log of a quantity that certainty makes small.

    DOCTOR's 1 − 1/‖σ‖², the negative entropy Σσ log σ, and SIRC's −(1 − p_max)(1 + e^{−b(s − a)}).
    """
    return -array_namespace(confidence).exp(-confidence)


def no_flaw(_: Outputs, /) -> None:
    """Any outputs will do."""


@dataclass(frozen=True, kw_only=True)
class Score(ABC):
    """A confidence score, higher = more trusted.

    Each score has two faces. Calling it gives the *confidence*, the form that loses no order to rounding; rankings
    and thresholds use it alone. ``literal`` maps a confidence, or a threshold on it, to the value the
    literature prints: a strictly increasing function, so both rank alike. ``flaw`` says what in outputs that
    have all that is needed leaves the score undefined.
    """

    name: str
    symbol: str
    family: Literal["softmax", "logit", "margin", "feature", "hybrid", "given"]
    needs: tuple[Need, ...]
    reference: str
    literal: Callable[[Array], Array] = unchanged
    flaw: Callable[[Outputs], str | None] = no_flaw

    def objection(self, outputs: Outputs, /) -> str | None:
        """Why the score cannot be had of these outputs, or None."""
        have = {
            "logits": outputs.n_classes > 0,
            "features": outputs.features is not None,
            "head": outputs.weight is not None,
        }
        if lacking := [need for need in self.needs if not have.get(need, True)]:
            return f"no {' and no '.join(lacking)}"
        return self.flaw(outputs)

    @property
    def is_fitted(self) -> bool:
        """Whether it needs a calibration sample."""
        return "calibration" in self.needs

    @abstractmethod
    def fit(self, calibration: Outputs, /) -> Confidence:
        """The function from outputs to confidence, its constants taken from a calibration sample."""


@final
@dataclass(frozen=True, kw_only=True)
class LogitScore(Score):
    """A score that is a formula in the row sums of the logits; there is nothing to fit."""

    formula: Callable[[RowSums], Array]

    def portable(self, logits: Array, _: Array, head: Any, /) -> Array:
        """The same on arrays of any library."""
        return self.formula(logit_rows(logits, scale=head.inverse_norms if "head" in self.needs else None))

    def fit(self, calibration: Outputs | None = None, /) -> Confidence:  # noqa: ARG002
        """The score itself."""
        return self

    def __call__(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,) of every row."""
        return score_usable(outputs, lambda o: self.formula(output_rows(o, with_head="head" in self.needs)))


@final
@dataclass(frozen=True, kw_only=True)
class PlainScore(Score):
    """A score that is a function of the logits and the head; there is nothing to fit."""

    function: Callable[[Outputs], Array]
    array_function: Callable[[Array, Any], Array]
    """The same of logits and the head, on arrays of any library."""

    def portable(self, logits: Array, _: Array, head: Any, /) -> Array:
        """The same on arrays of any library."""
        return self.array_function(logits, head)

    def fit(self, calibration: Outputs | None = None, /) -> Confidence:  # noqa: ARG002
        """The score itself."""
        return self

    def __call__(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Confidence (n,) of every row."""
        return score_usable(outputs, self.function)


@final
@dataclass(frozen=True, kw_only=True)
class FittedScore(Score):
    """A score that is fitted on a calibration sample."""

    method: Fitter

    def fit(self, calibration: Outputs, /) -> Fitted:
        """The method fitted, or `CannotFitError`."""
        if "labels" in self.needs and calibration.labels is None:
            raise CannotFitError("the calibration outputs have no labels")
        return self.method.fit(calibration)


def output_rows(outputs: Outputs, /, *, with_head: bool) -> RowSums:
    """The row sums of outputs, with the margin scaled by the norms of the head if asked."""
    scale = 1 / row_norms(outputs.weight) if with_head else None
    return logit_rows(outputs.logits, scale=scale)
