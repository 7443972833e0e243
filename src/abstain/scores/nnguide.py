"""NNGuide: energy guided by the energy of similar fitting samples."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.energy import Energy, energy
from abstain.scores.inputs import Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.neighbours import Bank, unit_bank
from abstain.scores.rows import Array
from abstain.scores.samples import bank_of
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes
from abstain.scores.size import no_size


@final
@dataclass(frozen=True)
class NNGuide(Score):
    r"""Energy times the mean of the k largest :math:`E_j \cos(x, x_j)` over the fitting sample.

    A high energy counts only near samples that had one. Of more than 10,000 rows that many are drawn as the bank.
    (Park et al., 2023)
    """

    k: int = 10

    about = About(
        name="nnguide",
        symbol="NNGuide",
        family="hybrid",
        for_ood=True,
        needs=("logits", "features", "fitting"),
        reference="Park et al., 2023",
        summary="Energy that counts only near fitting samples which had a high one.",
    )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """Log-probabilities have lost their size."""
        return no_size(outputs)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")

    def _fit(self, sample: Outputs, /) -> "FittedNNGuide":
        """Keep the normalized features and their energies."""
        bank, rows = unit_bank(sample, "features"), bank_of(sample)
        if len(bank) < self.k:
            raise CannotFitError(f"the fitting sample has {len(bank)} rows, fewer than {self.k} neighbours")
        return FittedNNGuide(bank, energy(rows.logits), self.k)


@final
@dataclass(frozen=True, eq=False)
class FittedNNGuide(FittedScore):
    """NNGuide with its bank of features and their energies (m,)."""

    bank: Bank
    energies: NDArray[np.float64]
    k: int

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features": self.bank.rows.shape[1]}

    def formula(self, inputs: Inputs, /) -> Array:
        """Energy times guidance."""
        largest = self.bank.sought_from(inputs, "features").products(self.energies, self.k)
        return Energy().formula(inputs) * array_namespace(largest).mean(largest, axis=1)
