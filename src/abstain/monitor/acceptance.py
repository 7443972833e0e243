"""Does the selector still accept as many samples as in calibration? Without labels."""

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.monitor.rate import RateEvidence
from abstain.monitor.row import Clusters
from abstain.records import from_json, to_json
from abstain.thresholds.binomial import lower_bound, upper_bound
from abstain.thresholds.sample import check_chance

SEVERAL = 0.74 + 0.5  # the places within the groups, and the sizes of these: docs/guarantees.md, The share accepted


def share_error(n: int, level: float, thresholds: int, /) -> float:
    """By how much the share that ``thresholds`` accept, one per group, may differ from that seen on ``n`` samples.

    It may differ by more with probability at most ``level`` in either direction, whatever thresholds are chosen on the
    sample. For one, by Dvoretzky, Kiefer and Wolfowitz; for more, their mean error bounds the mean and bounded
    differences the rest: see docs/guarantees.md.
    """
    mean = SEVERAL * sqrt(thresholds / n) if thresholds > 1 else 0.0
    return mean + sqrt(-log(level) / (2 * n))


@final
@dataclass(frozen=True)
class AcceptanceMonitor:
    """An alarm when the share accepted leaves what calibration allows, false with probability at most δ over all time.

    Half of δ covers the calibration's own uncertainty, a quarter each a rise and a fall. A steady share does NOT
    certify the risk: a change in what the labels are given the inputs cannot be seen without labels.
    """

    columns: ClassVar[tuple[str, ...]] = ("accepted",)
    meaning: ClassVar[str] = "the share accepted has left what calibration allows"
    caveat: ClassVar[str] = "Shares and confidences certify nothing about the risk: only labels do."

    low: float
    high: float
    delta: float
    rise: RateEvidence | None = None
    """Evidence so far that more are accepted than allowed; none at the start."""
    fall: RateEvidence | None = None
    """Evidence that more are rejected."""
    clustered: bool = False
    """Whether rows of the same id count once, by the share of them that is accepted."""

    def __post_init__(self) -> None:
        check_chance("delta", self.delta)
        if not 0 <= self.low <= self.high <= 1:
            raise ValueError(
                "`low` and `high` must be between 0 and 1, the first not above the second, got "
                f"{self.low} and {self.high}."
            )
        if self._rise.bound != self.high or self._fall.bound != 1 - self.low or self._rise.n != self._fall.n:
            raise ValueError("`rise` and `fall` must be of this range and of the same samples, got others.")

    @classmethod
    def from_calibration(cls, *, accepted: int, n: int, delta: float = 0.05, chosen_thresholds: int = 0) -> Self:
        """From the counts of the calibration sample.

        The range is that of Clopper and Pearson, for thresholds that were fixed before the sample was seen. Where they
        were chosen on it, ``chosen_thresholds`` is their number, one for each group of the rows, and the range holds
        for all choices at once: that of Dvoretzky, Kiefer and Wolfowitz for one, a wider one for several.
        """
        check_chance("delta", delta)
        if not 0 <= accepted <= n or not n:
            raise ValueError(f"`accepted` must be between 0 and `n`, at least 1, got {accepted} of {n}.")
        if chosen_thresholds:
            within = share_error(n, delta / 4, chosen_thresholds)
            return cls(max(accepted / n - within, 0.0), min(accepted / n + within, 1.0), delta)
        return cls(lower_bound(accepted, n, delta / 4), upper_bound(accepted, n, delta / 4), delta)

    @property
    def _rise(self) -> RateEvidence:
        return self.rise or RateEvidence(self.high, of_parts=self.clustered)

    @property
    def _fall(self) -> RateEvidence:
        return self.fall or RateEvidence(1 - self.low, of_parts=self.clustered)

    def update(self, *, accepted: int, n: int) -> Self:
        """The monitor after ``n`` more samples, ``accepted`` of them accepted, in any order."""
        if not 0 <= accepted <= n:
            raise ValueError(f"`accepted` must be between 0 and `n`, got {accepted} of {n}.")
        rise, fall = self._rise.update(ones=accepted, n=n), self._fall.update(ones=n - accepted, n=n)
        return replace(self, rise=rise, fall=fall)

    def observe(self, accepted: ArrayLike, /) -> Self:
        """The monitor after further samples, one by one in the order they came: whether each was accepted.

        Where rows form clusters, the share accepted of each cluster.
        """
        each = np.asarray(accepted, dtype=np.float64)
        return replace(self, rise=self._rise.observe(each), fall=self._fall.observe(1 - each))

    @property
    def accepted(self) -> float:
        """Samples accepted, or the sum of the shares of clusters that were."""
        return self._rise.ones if self.clustered else int(self._rise.ones)

    @property
    def n(self) -> int:
        """Samples or clusters seen."""
        return self._rise.n

    @property
    def alarm(self) -> bool:
        """Whether the share has been shown to be outside."""
        return self._rise.reached(self.delta / 4) or self._fall.reached(self.delta / 4)

    def outcomes(self, clusters: Clusters, /) -> NDArray[np.float64]:
        """The share of each cluster's decisions that is to accept."""
        sizes = clusters.sizes
        return np.where(sizes > 0, clusters.sums() / np.maximum(sizes, 1), np.nan)

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        return replace(self, rise=None, fall=None)

    restarted = begun

    def numbers(self) -> dict[str, Any]:
        """The share accepted and what calibration allows."""
        found = {"accepted": self.accepted, "n": self.n, "low": self.low, "high": self.high}
        return found | {"alarm": self.alarm}

    def words(self) -> str:
        """The verdict on the share accepted."""
        allowed = f"{self.low:.3f}–{self.high:.3f}"
        if not self.n:
            return f"The share accepted is not known: no decisions so far (calibration allows {allowed})."
        verdict = "ALARM: the share accepted has left" if self.alarm else "No alarm: the share accepted may be within"
        seen = f"{self.accepted:.6g} of {self.n}{' ids' * self.clustered}, {self.accepted / self.n:.3f}"
        return f"{verdict} what calibration allows ({allowed}): {seen}."

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The monitor that `to_json` wrote."""
        return from_json(text, cls)
