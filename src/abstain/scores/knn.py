"""KNN: distance to the k-th nearest calibration sample."""

from dataclasses import dataclass
from typing import Any, Literal, final, get_args

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.arrays import normalized_like, smallest_distances
from abstain.scores.fitting import CannotFitError, Fitted, Fitter, features_of
from abstain.scores.neighbours import nearest_distances, normalized

Space = Literal["features", "logits"]


@final
@dataclass(frozen=True)
class KNN(Fitter):
    r"""Minus the squared distance to the k-th nearest calibration sample, :math:`-\|x/\|x\| - f_{(k)}/\|f_{(k)}\|\|^2`.

    Made to find unknown classes. The authors' code measures in the features; ``space="logits"`` does as the paper's
    text says. With ``exclude_self`` a sample that, once normalized, is in the calibration sample is not its own
    neighbour. (Sun et al., 2022)

    >>> bank = Outputs(logits=np.zeros((4, 2)), features=np.array([[1.0, 0], [0, 1], [1, 1], [-1, 0]]))
    >>> KNN(k=2).fit(bank)(Outputs(logits=np.zeros((1, 2)), features=np.array([[2.0, 1.0]]))).round(6)
    array([-0.211146])
    """

    k: int = 2
    space: Space = "features"
    exclude_self: bool = False

    def _fit(self, calibration: Outputs, /) -> "FittedKNN":
        """Keep the calibration sample as the bank."""
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")
        check_name("space", self.space, get_args(Space), rule="be 'features' or 'logits'")
        bank = rows_in(self.space, calibration)
        if len(bank) < self.k + self.exclude_self:
            raise CannotFitError(f"the calibration sample has {len(bank)} rows, too few for neighbour {self.k}")
        return FittedKNN(bank, self.k, self.space, self.exclude_self)


@final
@dataclass(frozen=True, eq=False)
class FittedKNN(Fitted):
    """KNN with its bank of normalized rows."""

    bank: NDArray[Any]
    k: int
    space: Space
    exclude_self: bool

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features" if self.space == "features" else "classes": self.bank.shape[1]}

    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """Minus the k-th squared distance."""
        distances = nearest_distances(rows_in(self.space, outputs), self.bank, self.k + self.exclude_self)
        if not self.exclude_self:
            return -distances[:, self.k - 1]
        return -np.where(distances[:, 0] == 0, distances[:, self.k], distances[:, self.k - 1])

    def portable(self, logits: Any, features: Any, _: Any, /) -> Any:
        """The same on arrays of any library."""
        rows = normalized_like(features if self.space == "features" else logits, self.bank)
        distances = smallest_distances(rows, self.bank, self.k + self.exclude_self)
        if not self.exclude_self:
            return -distances[:, self.k - 1]
        is_there = distances[:, 0] < 1e-12
        return -array_namespace(rows).where(is_there, distances[:, self.k], distances[:, self.k - 1])


def masked_class(outputs: Outputs, /) -> str | None:
    """A masked class has no place among the logits."""
    return None if np.isfinite(outputs.logits[outputs.usable]).all() else "a masked class (a logit of −inf)"


def rows_in(space: Space, outputs: Outputs, /) -> NDArray[Any]:
    """Normalized features or logits."""
    rows = features_of(outputs) if space == "features" else outputs.logits
    if space == "logits" and not np.isfinite(rows).all():
        raise ValueError("`logits` must be finite for neighbours in logit space, got a masked class. Use the features.")
    return normalized(rows)
