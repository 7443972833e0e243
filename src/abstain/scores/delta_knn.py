"""Δ-KNN: the same question by nearest neighbours."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.neighbours import Neighbours
from abstain.scores.operations import normalized
from abstain.scores.rows import Array
from abstain.scores.samples import bank_of, features_of, right_and_wrong, shared
from abstain.scores.score import About, FittedScore, Score, Sizes


@final
@dataclass(frozen=True)
class DeltaKNN(Score):
    r"""Mean of :math:`\log(D_j + 10^{-6})` over the k nearest wrong samples less that over the k nearest right ones.

    D are squared distances of normalized features. k is at most the number of wrong or of right fitting samples.
    Of more than 10,000 rows that many are drawn as the bank. (Heng & Soh, 2026)
    """

    k: int = 10

    about = About(
        name="delta_knn",
        symbol="Δ-KNN",
        family="feature",
        needs=("features", "fitting", "labels"),
        reference="Heng & Soh, 2026",
        summary="Whether a sample is closer to where the classifier was right or to where it was wrong, by neighbours.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedDeltaKNN":
        """Keep the normalized features of right and of wrong samples."""
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")
        return shared(sample, self, lambda: self._find(sample))

    def _find(self, sample: Outputs) -> "FittedDeltaKNN":
        sample = bank_of(sample)
        right, wrong = right_and_wrong(sample)
        rows = normalized(features_of(sample))
        return FittedDeltaKNN(rows[right], rows[wrong], min(self.k, int(right.sum()), int(wrong.sum())))


@final
@dataclass(frozen=True, eq=False)
class FittedDeltaKNN(FittedScore):
    """Δ-KNN with its two banks."""

    right: NDArray[Any]
    wrong: NDArray[Any]
    k: int

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.right.shape[1]}

    @cached_property
    def _banks(self) -> tuple[Neighbours, Neighbours]:
        return Neighbours(self.wrong), Neighbours(self.right)

    def formula(self, inputs: Inputs, /) -> Array:
        """Log-distance to the wrong samples less that to the right ones."""
        rows = inputs.units("features", self.right)
        xp = array_namespace(rows)
        far, near = (xp.mean(xp.log(bank.distances(rows, self.k) + 1e-6), axis=1) for bank in self._banks)
        return far - near
