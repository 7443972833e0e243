"""By how much a prediction is expected to cost less than rejecting, from calibrated probabilities and given costs."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_numbers
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.operations import Array, array_namespace, double, products
from abstain.scores.score import About, CannotFitError, FittedScore, Score
from abstain.scores.temperature import best_temperature


@final
@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of decisions: ``matrix[ŷ, y]`` of predicting ŷ where y is true, ``rejection[y]`` of rejecting there."""

    matrix: Floats
    rejection: Floats

    @classmethod
    def of(cls, n_classes: int, /, *, rejection: float | ArrayLike, matrix: ArrayLike | None = None) -> "Costs":
        """Checked costs: 0 and 1 by default, one cost of rejecting or one for each true class."""
        table = 1 - np.eye(n_classes) if matrix is None else as_numbers("costs", matrix).astype(np.float64)
        reject = as_numbers("rejection", rejection).astype(np.float64)
        if table.shape != (n_classes, n_classes):
            raise InvalidInputError(f"`costs` must have shape ({n_classes}, {n_classes}), got {table.shape}.")
        if reject.shape not in ((), (n_classes,)):
            raise InvalidInputError(
                f"`rejection` must be one number or {n_classes}, one per class, got {reject.size} numbers."
            )
        for name, values in (("costs", table), ("rejection", reject)):
            if (wrong := ~(np.isfinite(values) & (values >= 0))).any():
                raise InvalidInputError(f"`{name}` must be finite and at least 0, got {values[wrong].flat[0]}.")
        return cls(table, np.broadcast_to(reject, (n_classes,)).copy())

    @property
    def largest(self) -> float:
        """The most that a decision can cost."""
        return float(max(self.matrix.max(), self.rejection.max())) or 1.0

    def expected(self, probabilities: Array, /) -> tuple[Array, Array]:
        """Expected cost of each answer (n, K) and of rejecting (n,), of probabilities (n, K) of any library."""
        answering = products(probabilities, np.ascontiguousarray(self.matrix.T))
        return answering, products(probabilities, self.rejection[:, None])[:, 0]

    def paid(self, prediction: NDArray[np.int64], labels: NDArray[np.int64], /) -> tuple[Floats, Floats]:
        """What accepting and what rejecting costs (n,), given the labels; the most possible for no known class.

        A prediction of −1, that of a non-finite row, is never accepted and costs what rejecting does.
        """
        known = labels >= 0
        y = np.where(known, labels, 0)
        accepting = np.where(known, self.matrix[prediction, y], self.matrix[prediction].max(axis=1))
        rejecting = np.where(known, self.rejection[y], self.rejection.max())
        return np.where(prediction < 0, rejecting, accepting), rejecting


@final
@dataclass(frozen=True, eq=False)
class ExpectedCost(Score):
    """Expected cost of rejecting less that of the best prediction, by temperature-scaled probabilities.

    For applications whose errors have different costs. Chow's rule accepts above 0.

    Parameters
    ----------
    rejection : float or array (K,)
        Cost of rejecting, one for all or one for each true class.
    costs : array (K, K), optional
        Cost of predicting the row's class where the column's is true; by default 0 and 1.

    References
    ----------
    Chow, 1970
    """

    rejection: Any = 1.0
    costs: Any = None
    named_by = ("rejection", "costs")
    fits_on_shifted = True

    about = About(
        name="expected_cost",
        symbol="Chow",
        family="softmax",
        needs=("logits", "fitting", "labels"),
        reference="Chow, 1970",
        summary="What rejecting is expected to cost more than the cheapest answer, by calibrated probabilities.",
    )

    def __post_init__(self) -> None:
        for name in ("rejection", "costs"):
            value = getattr(self, name)
            if value is not None and np.ndim(value):
                object.__setattr__(self, name, np.asarray(value, dtype=np.float64))

    def _fit(self, sample: Outputs, /) -> "FittedExpectedCost":
        """Find the temperature; 1 where the sample does not determine it, as without a wrong prediction."""
        costs = Costs.of(sample.n_classes, rejection=self.rejection, matrix=self.costs)
        temperature = 1.0
        with suppress(CannotFitError):
            temperature = best_temperature(sample)
        return FittedExpectedCost(temperature, costs.matrix, costs.rejection)


@final
@dataclass(frozen=True, eq=False)
class FittedExpectedCost(FittedScore):
    """Costs and the temperature of the probabilities they are weighed with."""

    temperature: float
    matrix: Annotated[Floats, "classes", "classes"]
    rejection: Annotated[Floats, "classes"]
    changes_predictions = True

    def predictions(self, inputs: Inputs, /) -> Array:
        """The class of lowest expected cost."""
        return array_namespace(inputs.logits).argmin(self._expected(inputs)[0], axis=1)

    def formula(self, inputs: Inputs, /) -> Array:
        """How much more rejecting is expected to cost."""
        answering, rejecting = self._expected(inputs)
        return rejecting - array_namespace(rejecting).min(answering, axis=1)

    def _expected(self, inputs: Inputs) -> tuple[Array, Array]:
        scaled = double(inputs.logits) / self.temperature
        xp = array_namespace(scaled)
        e = xp.exp(scaled - xp.max(scaled, axis=1, keepdims=True))
        return Costs(self.matrix, self.rejection).expected(e / xp.sum(e, axis=1, keepdims=True))
