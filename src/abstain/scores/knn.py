"""KNN: distance to the k-th nearest fitting sample."""

from dataclasses import dataclass
from typing import Literal, final, get_args

import numpy as np

from abstain.names import check_name
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.neighbours import Bank, unit_bank
from abstain.scores.rows import Array
from abstain.scores.samples import bank_of
from abstain.scores.score import About, CannotFitError, FittedScore, Score, Sizes

Space = Literal["features", "logits"]
ITSELF = 1e-12  # a squared distance below which rounding cannot tell a sample from itself


@final
@dataclass(frozen=True)
class KNN(Score):
    r"""Minus the squared distance to the k-th nearest fitting sample, :math:`-\|x/\|x\| - f_{(k)}/\|f_{(k)}\|\|^2`.

    Made to find unknown classes. The authors' code measures in the features; ``space="logits"`` does as the paper's
    text says. With ``exclude_self`` a sample that, once normalized, is in the fitting sample is not its own
    neighbour. Of more than 10,000 rows that many are drawn as the bank. (Sun et al., 2022)

    >>> bank = Outputs(logits=np.zeros((4, 2)), features=np.array([[1.0, 0], [0, 1], [1, 1], [-1, 0]]))
    >>> KNN(k=2).fit(bank)(Outputs(logits=np.zeros((1, 2)), features=np.array([[2.0, 1.0]]))).round(6)
    array([-0.211146])
    """

    k: int = 2
    space: Space = "features"
    exclude_self: bool = False

    named_by = ("space",)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"`k` must be at least 1, got {self.k}.")
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
        """A masked class has no place among the logits."""
        return "a masked class (a logit of −inf)" if self.space == "logits" and outputs.is_masked else None

    def _fit(self, sample: Outputs, /) -> "FittedKNN":
        """Keep the fitting sample as the bank, or 10,000 rows of it."""
        if self.space == "logits" and not np.isfinite(bank_of(sample).logits).all():
            raise ValueError(
                "`logits` must be finite for neighbours in logit space, got a masked class. Use the features."
            )
        bank = unit_bank(sample, self.space)
        if len(bank) < self.k + self.exclude_self:
            raise CannotFitError(f"the fitting sample has {len(bank)} rows, too few for neighbour {self.k}")
        return FittedKNN(bank, self.k, self.space, self.exclude_self)


@final
@dataclass(frozen=True, eq=False)
class FittedKNN(FittedScore):
    """KNN with its bank of normalized rows."""

    bank: Bank
    k: int
    space: Space
    exclude_self: bool

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"features" if self.space == "features" else "classes": self.bank.rows.shape[1]}

    def formula(self, inputs: Inputs, /) -> Array:
        """Minus the k-th squared distance, NaN where a masked class has no place among the logits."""
        distances = self.bank.sought_from(inputs, self.space).distances(self.k + self.exclude_self)
        xp = array_namespace(distances)
        found = -distances[:, self.k - 1]
        if self.exclude_self:
            found = xp.where(distances[:, 0] < ITSELF, -distances[:, self.k], found)
        return xp.where(xp.all(xp.isfinite(inputs.logits), axis=1), found, xp.nan) if self.space == "logits" else found
