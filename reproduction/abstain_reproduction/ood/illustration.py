"""The paper's example as a population: two scores of a network with normal distributions, tuned to the paper's AUROCs.

12% of 50,000 known samples are wrong, and 2,000 samples are of unknown classes, as for EVA on ImageNet and ImageNet-O.
One score tells right from wrong, the other known from unknown, a little surer of its mistakes than of the rest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from abstain._cached_property import cached_property

Floats = NDArray[np.float64]
WRONG = 0.12
UNKNOWN = 2000 / 52000
AUROC = {"selection": 0.765, "detector": 0.944}  # the paper's, of RL_conf-M and of ViM
SURER = 0.25  # by how much the detector's score is higher where the network is wrong
GRID = np.linspace(-9.0, 12.0, 8401)


@dataclass(frozen=True)
class NormalScore:
    """A score that is normal with variance 1 among right, wrong and unknown samples."""

    right: float
    wrong: float
    unknown: float = 0.0

    @cached_property
    def beyond(self) -> dict[str, Floats]:
        """The share of right, wrong and unknown samples above each threshold of the grid."""
        means = {"right": self.right, "wrong": self.wrong, "unknown": self.unknown}
        return {kind: ndtr(mean - GRID) for kind, mean in means.items()}

    @property
    def kept(self) -> Floats:
        """The share of known samples above each threshold, the true positive rate."""
        return (1 - WRONG) * self.beyond["right"] + WRONG * self.beyond["wrong"]

    @property
    def auroc(self) -> float:
        """P(known > unknown)."""
        right, wrong = (ndtr((mean - self.unknown) / np.sqrt(2)) for mean in (self.right, self.wrong))
        return float((1 - WRONG) * right + WRONG * wrong)

    @property
    def aupr(self) -> float:
        """The area under precision over recall, the known positive."""
        known, unknown = (1 - UNKNOWN) * self.kept, UNKNOWN * self.beyond["unknown"]
        precision = known / (known + unknown)
        return float(-np.trapezoid(precision, self.kept) + precision[-1] * self.kept[-1])

    def threshold(self, tpr: float) -> float:
        """The threshold that keeps a share of the known samples."""
        return float(np.interp(-tpr, -self.kept, GRID))

    def fpr(self, tpr: float) -> float:
        """The share of unknown samples above the threshold that keeps a share of the known."""
        return float(ndtr(self.unknown - self.threshold(tpr)))

    @property
    def coverage(self) -> Floats:
        """At each threshold of the grid."""
        return (1 - UNKNOWN) * self.kept + UNKNOWN * self.beyond["unknown"]

    @property
    def risk(self) -> Floats:
        """At each threshold of the grid."""
        errors = (1 - UNKNOWN) * WRONG * self.beyond["wrong"] + UNKNOWN * self.beyond["unknown"]
        return errors / self.coverage

    @property
    def aurc(self) -> float:
        """The area under the risk–coverage curve."""
        shown = self.coverage > 1e-9
        return float(-np.trapezoid(self.risk[shown], self.coverage[shown]))

    def risk_at_tpr(self, tpr: float) -> float:
        """The risk at the threshold that keeps a share of the known."""
        return float(np.interp(self.threshold(tpr), GRID, self.risk))


def illustration() -> dict[str, NormalScore]:
    """The selection score and the detector, with the paper's AUROCs."""

    def selection(mean: float) -> NormalScore:
        return NormalScore(right=mean, wrong=0.0)

    def detector(mean: float) -> NormalScore:
        return NormalScore(right=mean, wrong=mean + SURER)

    return {
        name: make(brentq(lambda mean, make=make, name=name: make(mean).auroc - AUROC[name], 0.0, 9.0))
        for name, make in (("selection", selection), ("detector", detector))
    }
