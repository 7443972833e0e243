"""Scores by nearest neighbours in the fitting sample: KNN, Δ-KNN and NNGuide."""

from dataclasses import dataclass
from typing import Annotated, Literal, final, get_args

import numpy as np

from abstain._arguments import check_at_least
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import Energy, energy
from abstain.scores.neighbour_search import Bank, unit_bank
from abstain.scores.operations import Array, array_namespace
from abstain.scores.samples import bank_of, once_per_sample, right_and_wrong
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes

Space = Literal["features", "logits"]


@final
@dataclass(frozen=True)
class KNN(Score):
    r"""Minus the squared distance to the k-th nearest fitting sample, :math:`-\|x/\|x\| - f_{(k)}/\|f_{(k)}\|\|^2`.

    Made to detect unknown classes. Of more than 10,000 rows that many are drawn as the bank.

    Parameters
    ----------
    k : int
        Which neighbour, from 1 on.
    space : {'features', 'logits'}
        Where distances are measured: features as in the authors' code, logits as in the paper's text.

    Examples
    --------
    >>> bank = Outputs(logits=np.zeros((4, 2)), features=np.array([[1.0, 0], [0, 1], [1, 1], [-1, 0]]))
    >>> KNN(k=2).fit(bank)(Outputs(logits=np.zeros((1, 2)), features=np.array([[2.0, 1.0]]))).round(6)
    array([-0.211146])

    References
    ----------
    Sun et al., 2022
    """

    k: int = 2
    space: Space = "features"

    named_by = ("space",)

    def __post_init__(self) -> None:
        check_at_least("k", self.k, 1)
        check_name("space", self.space, get_args(Space), rule="be 'features' or 'logits'")

    @property
    def about(self) -> About:
        """The same but for where distances are measured."""
        of_features = self.space == "features"
        return About(
            name="knn" if of_features else "knn_logits",
            symbol="KNN" if of_features else "KNN(z)",
            family="feature" if of_features else "logit",
            for_ood=True,
            needs=("features" if of_features else "logits", "fitting"),
            reference="Sun et al., 2022",
            summary=f"Distance to the k-th nearest fitting sample, in the {self.space}: made to find unknown classes.",
        )

    def flaw(self, outputs: Outputs, /) -> str | None:
        """A masked class has no finite logit."""
        return "a masked class (a logit of −inf)" if self.space == "logits" and outputs.is_masked else None

    def _fit(self, sample: Outputs, /) -> "FittedKNN":
        """Keep the fitting sample as the bank, or 10,000 rows of it."""
        if self.space == "logits" and not np.isfinite(bank_of(sample).logits).all():
            raise InvalidInputError(
                "`logits` must be finite for neighbours in logit space, got a masked class. Use the features."
            )
        bank = unit_bank(self.space, sample)
        if len(bank) < self.k:
            raise CannotFitError(f"the fitting sample has {len(bank)} rows, too few for neighbour {self.k}")
        return FittedKNN(bank, self.k, self.space)


@final
@dataclass(frozen=True, eq=False)
class FittedKNN(FittedScore):
    """KNN with its bank of normalized rows."""

    bank: Bank
    k: int
    space: Space

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features" if self.space == "features" else "classes": self.bank.rows.shape[1]}

    def formula(self, inputs: Inputs, /) -> Array:
        """Minus the k-th squared distance, NaN where a masked class has no finite logit."""
        confidence = -self.bank.sought_from(inputs, self.space).distances(self.k)[:, self.k - 1]
        if self.space == "features":
            return confidence
        xp = array_namespace(confidence)
        return xp.where(xp.all(xp.isfinite(inputs.logits), axis=1), confidence, xp.nan)


@final
@dataclass(frozen=True)
class DeltaKNN(Score):
    r"""Mean of :math:`\log(D_j + 10^{-6})` over the k nearest wrong samples less that over the k nearest right ones.

    D are squared distances of normalized features. Of more than 10,000 rows that many are drawn as the bank.

    Parameters
    ----------
    k : int
        Neighbours, at most as many as wrong or right fitting samples.

    References
    ----------
    Heng & Soh, 2026
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
        check_at_least("k", self.k, 1)

    @once_per_sample
    def _fit(self, sample: Outputs, /) -> "FittedDeltaKNN":
        """Keep the normalized features, those of right samples first."""
        right, wrong = (int(rows.sum()) for rows in right_and_wrong(bank_of(sample)))
        return FittedDeltaKNN(unit_bank("features", sample), right, min(self.k, right, wrong))


@final
@dataclass(frozen=True, eq=False)
class FittedDeltaKNN(FittedScore):
    """Δ-KNN with its bank, whose first ``right`` rows were predicted right and the others wrong."""

    bank: Annotated[Bank, None, "features"]
    right: int
    k: int

    def formula(self, inputs: Inputs, /) -> Array:
        """Log-distance to the wrong samples less that to the right ones."""
        search = self.bank.sought_from(inputs, "features")
        right, wrong = search.distances(self.k, last=self.right), search.distances(self.k, first=self.right)
        xp = array_namespace(right)
        return xp.mean(xp.log(wrong + 1e-6), axis=1) - xp.mean(xp.log(right + 1e-6), axis=1)


@final
@dataclass(frozen=True)
class NNGuide(Score):
    r"""Energy times the mean of the k largest :math:`E_j \cos(x, x_j)` over the fitting sample.

    A high energy counts only near samples that had one. Of more than 10,000 rows that many are drawn as the bank.

    Parameters
    ----------
    k : int
        Neighbours, at least 1.

    References
    ----------
    Park et al., 2023
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

    needs_size = True

    def __post_init__(self) -> None:
        check_at_least("k", self.k, 1)

    def _fit(self, sample: Outputs, /) -> "FittedNNGuide":
        """Keep the normalized features and their energies."""
        bank, rows = unit_bank("features", sample), bank_of(sample)
        if len(bank) < self.k:
            raise CannotFitError(f"the fitting sample has {len(bank)} rows, fewer than {self.k} neighbours")
        return FittedNNGuide(bank, energy(rows.logits), self.k)


@final
@dataclass(frozen=True, eq=False)
class FittedNNGuide(FittedScore):
    """NNGuide with its bank of features and their energies (m,)."""

    bank: Annotated[Bank, None, "features"]
    energies: Floats
    k: int

    def formula(self, inputs: Inputs, /) -> Array:
        """Energy times guidance."""
        largest = self.bank.sought_from(inputs, "features").products(self.energies, self.k)
        return Energy().formula(inputs) * array_namespace(largest).mean(largest, axis=1)
