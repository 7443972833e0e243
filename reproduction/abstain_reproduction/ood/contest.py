"""Two scores on the same rows, by the metrics of OOD detection and by what they are for in selection."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain.metrics import ScoreDifference, compare, fpr_at_tpr, ood_aupr, ood_auroc, risk_at_coverage
from abstain.outputs import Outputs
from abstain_reproduction.ood.jackknife import jackknife

Floats = NDArray[np.float64]
METRICS = ("AUROC", "AUPR", "FPR@TPR=0.95")
BETTER = np.array([1.0, 1.0, -1.0])  # the last is good when small
CUTS = (0.95, 0.75, 0.5, 0.25, 0.1)
"""Shares of known samples that are kept, at which thresholds are drawn."""
CLEAR = 1.96  # standard errors


@dataclass(frozen=True, eq=False)
class Contest:
    """A selection score against a detector."""

    outputs: Outputs
    selection: str
    detector: str
    confidence: dict[str, Floats]

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Rows of classes that the classifier does not know."""
        return np.asarray(self.outputs.labels) < 0

    @property
    def ids(self) -> NDArray[np.generic]:
        """What rows are copies of."""
        return np.arange(len(self.outputs)) if self.outputs.ids is None else self.outputs.ids

    def part(self, rows: NDArray[np.bool_]) -> "Contest":
        """The contest on some of the rows."""
        confidence = {name: values[rows] for name, values in self.confidence.items()}
        return Contest(self.outputs.select(rows), self.selection, self.detector, confidence)

    def detection(self, name: str, rows: NDArray[np.int64] | slice = slice(None)) -> Floats:
        """AUROC, AUPR and FPR@TPR=0.95 of a score on some rows, the known classes positive."""
        unknown, c = self.unknown[rows], self.confidence[name][rows]
        sides = c[~unknown], c[unknown]
        return np.array([ood_auroc(*sides), ood_aupr(*sides), fpr_at_tpr(*sides)])

    @cached_property
    def detection_gain(self) -> tuple[Floats, Floats]:
        """What the detector gains by each OOD metric, positive = better, with standard errors."""

        def gain(rows: NDArray[np.int64]) -> Floats:
            return BETTER * (self.detection(self.detector, rows) - self.detection(self.selection, rows))

        return jackknife(gain, self.ids)

    @cached_property
    def selection_loss(self) -> ScoreDifference:
        """AURC of the detector less that of the selection score."""
        detector, selection = self.confidence[self.detector], self.confidence[self.selection]
        return compare(detector, selection, self.outputs.errors, ids=self.ids)

    @property
    def clearness(self) -> float:
        """The least number of standard errors by which it wins by an OOD metric or loses in selection."""
        gain, error = self.detection_gain
        loss = self.selection_loss
        shares = [*(gain / np.maximum(error, 1e-12)), loss.difference / max(loss.se, 1e-12)]
        return float(min(shares))

    @property
    def is_clear(self) -> bool:
        """Whether the detector is better by all OOD metrics and worse in selection, each significantly."""
        return self.clearness > CLEAR

    def coverages(self, name: str) -> Floats:
        """The coverages at which the cuts keep their shares of known samples."""
        c = self.confidence[name]
        kept = np.quantile(c[~self.unknown], 1 - np.array(CUTS))
        return np.array([(c >= threshold).mean() for threshold in kept])

    @cached_property
    def rise(self) -> dict[str, tuple[float, float]]:
        """By score, the risk at the last cut less that at the first, with its standard error."""
        rises = {}
        for name in (self.selection, self.detector):
            value, error = jackknife(lambda rows, name=name: self._rise(name, rows), self.ids)  # type: ignore[misc]
            rises[name] = (float(value), float(error))
        return rises

    def _rise(self, name: str, rows: NDArray[np.int64]) -> float:
        c, unknown, errors = self.confidence[name][rows], self.unknown[rows], self.outputs.errors[rows]
        risks = []
        for cut in (CUTS[0], CUTS[-1]):
            kept = (c >= np.quantile(c[~unknown], 1 - cut)).mean()
            risks.append(risk_at_coverage(c, errors, coverage=float(kept)))
        return risks[1] - risks[0]
