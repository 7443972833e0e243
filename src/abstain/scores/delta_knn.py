"""Δ-KNN: the same question by nearest neighbours."""

from dataclasses import dataclass
from typing import final

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.neighbours import Bank, unit_bank
from abstain.scores.rows import Array
from abstain.scores.samples import bank_of, right_and_wrong, shared
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

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")

    def _fit(self, sample: Outputs, /) -> "FittedDeltaKNN":
        """Keep the normalized features, those of right samples first."""
        return shared(sample, self, lambda: self._find(sample))

    def _find(self, sample: Outputs) -> "FittedDeltaKNN":
        right, wrong = (int(rows.sum()) for rows in right_and_wrong(bank_of(sample)))
        return FittedDeltaKNN(unit_bank(sample, "features"), right, min(self.k, right, wrong))


@final
@dataclass(frozen=True, eq=False)
class FittedDeltaKNN(FittedScore):
    """Δ-KNN with its bank, of which so many are right and the rest wrong."""

    bank: Bank
    right: int
    k: int

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.bank.rows.shape[1]}

    def formula(self, inputs: Inputs, /) -> Array:
        """Log-distance to the wrong samples less that to the right ones."""
        search = self.bank.sought_from(inputs, "features")
        right, wrong = search.distances(self.k, last=self.right), search.distances(self.k, first=self.right)
        xp = array_namespace(right)
        return xp.mean(xp.log(wrong + 1e-6), axis=1) - xp.mean(xp.log(right + 1e-6), axis=1)
