"""AURC of the KNN score over k on one model's outputs, repeated over draws of the bank."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain.metrics import RiskCoverage, ScoreDifference, aurc, compare, risk_coverage
from abstain.outputs import Outputs
from abstain.scores import KNN, confidence_margin
from abstain.scores.fitting_draw import rows_per_class
from abstain.scores.neighbour_search import Search
from abstain.scores.operations import unit_rows
from abstain.scores.samples import features_of
from abstain_reproduction.mean import Mean
from abstain_reproduction.other_outputs import subsample

Floats = NDArray[np.float64]
KS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
PAPER = 2  # the paper's k
DRAWS = 5
Bank = Literal["paper", "large"]
LARGE = 5_000  # rows: the paper's bank, five for each of the 1,000 classes of ImageNet
ROWS = 5_000  # that are ranked, of each model: ten searches take seconds


@dataclass(frozen=True, eq=False)
class BankDraw:
    """One bank: the rows that are not in it, and how far they are from their neighbours there."""

    outputs: Outputs
    distances: Floats
    """(n, k) squared, to the nearest, the second nearest and so on."""
    bank: NDArray[np.int64]
    """Rows of the outputs that are in the bank."""

    @classmethod
    def of(cls, outputs: Outputs, bank: Bank, ks: Sequence[int], /, *, seed: int) -> "BankDraw":
        """One search gives the distances for every k that the bank allows; at most 5,000 other rows are ranked."""
        drawn, others = rows_per_class(outputs, seed=seed, size=None if bank == "paper" else LARGE)
        neighbours = KNN(k=1).fit(outputs.select(drawn)).bank
        most = max(k for k in ks if k <= len(neighbours))
        rest = subsample(outputs.select(others), ROWS, seed)
        return cls(rest, Search(neighbours, unit_rows(features_of(rest), neighbours.rows)).distances(most), drawn)

    def confidence(self, k: int, /) -> Floats:
        """KNN with k neighbours."""
        return -self.distances[:, k - 1]


@dataclass(frozen=True, eq=False)
class Ablation:
    """KNN over k on one model, the bank drawn several times."""

    name: str
    bank: Bank
    """Five times as many rows as classes, as in the paper, or as many rows as the paper has, 5,000."""
    draws: tuple[BankDraw, ...]
    ks: tuple[int, ...]

    @cached_property
    def areas(self) -> dict[int, list[float]]:
        """AURC over all rows by k, one for each draw."""
        return {k: [aurc(draw.confidence(k), draw.outputs.errors) for draw in self.draws] for k in self.ks}

    @cached_property
    def best(self) -> int:
        """The k of lowest AURC on average."""
        return min(self.ks, key=lambda k: np.mean(self.areas[k]))

    @cached_property
    def worst(self) -> int:
        """The k of highest AURC on average."""
        return max(self.ks, key=lambda k: np.mean(self.areas[k]))

    @property
    def margin(self) -> float:
        """AURC of the confidence margin on the same rows, on average."""
        areas = [aurc(confidence_margin(draw.outputs.logits), draw.outputs.errors) for draw in self.draws]
        return float(np.mean(areas))

    def difference(self, k: int, other: int, /) -> Mean:
        """AURC of k less that of another; draws share their rows, whose error does not shrink with their number."""
        comparisons = [_comparison(draw, k, other) for draw in self.draws]
        between = np.var([comparison.difference for comparison in comparisons], ddof=1) / len(comparisons)
        within = np.mean([comparison.se**2 for comparison in comparisons])
        return Mean(
            float(np.mean([comparison.difference for comparison in comparisons])), float(np.sqrt(within + between))
        )

    def curve(self, k: int, /) -> RiskCoverage:
        """The risk–coverage curve of the first draw."""
        draw = self.draws[0]
        return risk_coverage(draw.confidence(k), draw.outputs.errors)


def _comparison(draw: BankDraw, k: int, other: int) -> ScoreDifference:
    return compare(draw.confidence(k), draw.confidence(other), draw.outputs.errors, ids=draw.outputs.ids)


def ablate(
    name: str,
    outputs: Outputs,
    /,
    *,
    bank: Bank = "paper",
    seed: int = 0,
    ks: Sequence[int] = KS,
    draws: int = DRAWS,
) -> Ablation:
    """Evaluate KNN for every k that the bank allows, on several draws of the bank."""
    bank_draws = tuple(BankDraw.of(outputs, bank, ks, seed=seed + draw) for draw in range(draws))
    allowed = tuple(k for k in ks if all(k <= draw.distances.shape[1] for draw in bank_draws))
    return Ablation(name, bank, bank_draws, allowed)
