"""What a prediction is expected to cost less than rejecting, by calibrated probabilities and given costs."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from abstain.arguments import as_rectangle
from abstain.kernels.blocks import row_blocks
from abstain.kernels.products import row_products
from abstain.outputs import Outputs
from abstain.scores.arrays import constant
from abstain.scores.fitting import Fitted, Fitter
from abstain.scores.temperature import best_temperature

Floats = NDArray[np.float64]


def _numbers(name: str, value: ArrayLike) -> Floats:
    array = as_rectangle(name, value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` must be numbers, got {array.dtype}.")
    return array.astype(np.float64)


@final
@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of decisions: ``matrix[ŷ, y]`` of predicting ŷ where y is true, ``rejection[y]`` of rejecting there."""

    matrix: Floats
    rejection: Floats

    @classmethod
    def of(cls, n_classes: int, /, *, rejection: float | ArrayLike, matrix: ArrayLike | None = None) -> "Costs":
        """Checked costs: 0 and 1 by default, one cost of rejecting or one for each true class."""
        table = 1 - np.eye(n_classes) if matrix is None else _numbers("costs", matrix)
        reject = _numbers("rejection", rejection)
        if table.shape != (n_classes, n_classes):
            raise ValueError(f"`costs` must have shape ({n_classes}, {n_classes}), got {table.shape}.")
        if reject.shape not in ((), (n_classes,)):
            raise ValueError(f"`rejection` must be one number or {n_classes}, one a class, got shape {reject.shape}.")
        if not (np.isfinite(table).all() and np.isfinite(reject).all() and table.min() >= 0 and reject.min() >= 0):
            raise ValueError("`costs` and `rejection` must be finite and at least 0, got others.")
        return cls(table, np.broadcast_to(reject, (n_classes,)).copy())

    @property
    def largest(self) -> float:
        """The most that a decision can cost."""
        return float(max(self.matrix.max(), self.rejection.max())) or 1.0

    def expected(self, probabilities: Floats, /) -> tuple[NDArray[np.int64], Floats]:
        """The class of lowest expected cost (n,), and by how much rejecting is expected to cost more (n,)."""
        each = row_products(probabilities, self.matrix.T)
        prediction = each.argmin(axis=1)
        rejecting = row_products(probabilities, self.rejection[:, None])[:, 0]
        return prediction, rejecting - each[np.arange(len(each)), prediction]

    def paid(self, prediction: NDArray[np.int64], labels: NDArray[np.int64], /) -> tuple[Floats, Floats]:
        """What accepting and what rejecting costs (n,), given the labels; the most possible for no known class.

        A prediction of −1, that of a row that is not usable, is never accepted and costs what rejecting does.
        """
        known = labels >= 0
        y = np.where(known, labels, 0)
        accepting = np.where(known, self.matrix[prediction, y], self.matrix[prediction].max(axis=1))
        rejecting = np.where(known, self.rejection[y], self.rejection.max())
        return np.where(prediction < 0, rejecting, accepting), rejecting


@final
@dataclass(frozen=True)
class ExpectedCost(Fitter):
    """Expected cost of rejecting less that of the best prediction, by temperature-scaled probabilities.

    The rule of Chow accepts above 0. (Chow, 1970)
    """

    rejection: float | ArrayLike = 1.0
    costs: ArrayLike | None = None

    def _fit(self, calibration: Outputs, /) -> "FittedExpectedCost":
        """Find the temperature."""
        costs = Costs.of(calibration.n_classes, rejection=self.rejection, matrix=self.costs)
        return FittedExpectedCost(best_temperature(calibration), costs.matrix, costs.rejection)


@final
@dataclass(frozen=True, eq=False)
class FittedExpectedCost(Fitted):
    """Costs and the temperature of the probabilities they are weighed with."""

    temperature: float
    matrix: Floats
    rejection: Floats

    @property
    def costs(self) -> Costs:
        """The costs alone."""
        return Costs(self.matrix, self.rejection)

    def expects(self) -> dict[str, int]:
        """As many classes as there are costs for."""
        return {"classes": len(self.matrix)}

    def predictions(self, outputs: Outputs, /) -> NDArray[np.int64]:
        """The class of lowest expected cost (n,), −1 where a row is not usable."""
        found = np.full(len(outputs), -1, dtype=np.int64)
        rows = np.flatnonzero(outputs.usable)
        if len(rows):
            found[rows] = self._decide(outputs.logits[rows])[0]
        return found

    def _score(self, outputs: Outputs, /) -> Floats:
        """How much more rejecting is expected to cost."""
        return self._decide(outputs.logits)[1]

    def _decide(self, logits: NDArray[np.floating]) -> tuple[NDArray[np.int64], Floats]:
        prediction, advantage = np.empty(len(logits), dtype=np.int64), np.empty(len(logits))
        for block in row_blocks(*logits.shape):
            p = softmax(logits[block].astype(np.float64) / self.temperature, axis=1)
            prediction[block], advantage[block] = self.costs.expected(p)
        return prediction, advantage

    def portable(self, logits: Any, _: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        each, p = self._expected(logits)
        rejecting = p @ constant(self.rejection[:, None], logits)
        return rejecting[:, 0] - array_namespace(logits).min(each, axis=1)

    def portable_predictions(self, logits: Any, /) -> Any:
        """The class of lowest expected cost, on arrays of any library."""
        return array_namespace(logits).argmin(self._expected(logits)[0], axis=1)

    def _expected(self, logits: Any) -> tuple[Any, Any]:
        """Expected costs (n, K) and probabilities (n, K)."""
        xp = array_namespace(logits)
        scaled = logits / self.temperature
        e = xp.exp(scaled - xp.max(scaled, axis=1, keepdims=True))
        p = e / xp.sum(e, axis=1, keepdims=True)
        return p @ constant(self.matrix.T, logits), p
