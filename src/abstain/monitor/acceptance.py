"""An alarm for the share accepted, without labels."""

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._errors import InvalidInputError
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.rate import RateEvidence
from abstain.thresholds.binomial import lower_bound, upper_bound
from abstain.thresholds.sample import check_chance

SEVERAL = 0.74 + 0.5  # ranks within the groups, and their sizes: docs/guarantees.md, The share accepted


def share_error(n: int, level: float, thresholds: int, /) -> float:
    """A bound on the difference between the true share accepted and the share observed on ``n`` samples.

    It fails with probability at most ``level`` in either direction, however the ``thresholds``, one per group, are
    chosen on the sample. For one threshold it is that of Dvoretzky, Kiefer and Wolfowitz; for several, of their mean
    error and bounded differences: see docs/guarantees.md.
    """
    mean = SEVERAL * sqrt(thresholds / n) if thresholds > 1 else 0.0
    return mean + sqrt(-log(level) / (2 * n))


@final
@dataclass(frozen=True)
class AcceptanceMonitor:
    """An alarm when the share accepted leaves what calibration allows, false with probability at most δ over all time.

    Half of δ covers the uncertainty of calibration, a quarter each a rise and a fall. A constant share does NOT
    certify the risk: a change of labels given inputs cannot be detected without labels.

    Parameters
    ----------
    low, high : float
        The range of the share that calibration allows; `from_calibration` computes it.
    delta : float
        Probability of a false alarm, over all time.
    rise, fall : RateEvidence, optional
        Evidence so far that more, or fewer, are accepted than allowed.
    clustered : bool
        Whether rows with the same id count once, by the share of them that is accepted.

    Examples
    --------
    >>> monitor = AcceptanceMonitor.from_calibration(accepted=800, n=1000)
    >>> monitor.update(accepted=300, n=600).alarm
    True
    """

    columns: ClassVar[tuple[str, ...]] = ("accepted",)
    meaning: ClassVar[str] = "the share accepted is outside what calibration allows"
    caveat: ClassVar[str] = "The share accepted and the confidences certify nothing about the risk; only labels do."

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
            raise InvalidInputError(
                "`low` and `high` must be between 0 and 1, the first not above the second, got "
                f"{self.low} and {self.high}."
            )
        if self._rise.bound != self.high or self._fall.bound != 1 - self.low or self._rise.n != self._fall.n:
            raise InvalidInputError(
                f"`rise` and `fall` must be evidence about {self.low} to {self.high} on the same samples, got evidence "
                f"about {1 - self._fall.bound} to {self._rise.bound} on {self._fall.n} and {self._rise.n} samples."
            )

    @classmethod
    def from_calibration(cls, *, accepted: int, n: int, delta: float = 0.05, chosen_thresholds: int = 0) -> Self:
        """The monitor from the counts of a calibration sample.

        Parameters
        ----------
        accepted, n : int
            Samples accepted, and in all.
        delta : float
            Probability of a false alarm, over all time.
        chosen_thresholds : int
            The number of thresholds, one per group, chosen on this sample. With 0 the range is that of Clopper and
            Pearson, for thresholds fixed before; otherwise it holds for all choices simultaneously.
        """
        check_chance("delta", delta)
        if not 0 <= accepted <= n or not n:
            raise InvalidInputError(f"`accepted` must be between 0 and `n`, and `n` at least 1, got {accepted} of {n}.")
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
            raise InvalidInputError(f"`accepted` must be between 0 and `n`, got {accepted} of {n}.")
        rise, fall = self._rise.update(ones=accepted, n=n), self._fall.update(ones=n - accepted, n=n)
        return replace(self, rise=rise, fall=fall)

    def observe(self, accepted: ArrayLike, /) -> Self:
        """The monitor after more samples, in the order they came: whether each was accepted.

        If rows form clusters, the share accepted of each cluster.
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
    def evidence(self) -> float:
        """Evidence now that more, or fewer, are accepted than allowed; 4/δ raises the alarm."""
        return max(self._rise.value, self._fall.value)

    @property
    def alarm(self) -> bool:
        """Whether the share has been shown to be outside."""
        return self._rise.reached(self.delta / 4) or self._fall.reached(self.delta / 4)

    def outcomes(self, clusters: ClusterValues, /) -> NDArray[np.float64]:
        """The share of each cluster's decisions that accept."""
        sizes = clusters.sizes
        return np.where(sizes > 0, clusters.sums() / np.maximum(sizes, 1), np.nan)

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        return replace(self, rise=None, fall=None)

    restarted = begun

    def numbers(self) -> dict[str, Any]:
        """The share accepted and what calibration allows."""
        counts = {"accepted": self.accepted, "n": self.n, "low": self.low, "high": self.high}
        return counts | {"evidence": self.evidence, "alarm_at": 4 / self.delta, "alarm": self.alarm}

    def words(self) -> str:
        """The verdict on the share accepted."""
        allowed = f"calibration allows {self.low:.3f}–{self.high:.3f}"
        if not self.n:
            return f"Share accepted: unknown, no decisions yet ({allowed})."
        verdict = "ALARM, outside what calibration allows" if self.alarm else "no alarm"
        seen = f"{self.accepted / self.n:.3f}, {self.accepted:.6g} of {self.n}{' ids' * self.clustered}"
        return f"Share accepted: {verdict}. {seen}; {allowed}."
