"""Is the risk of accepted samples still at most the guaranteed one? With labels, as they come."""

from dataclasses import dataclass, replace
from math import log
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import betaln

from abstain._errors import InvalidInputError
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.rate import RateEvidence
from abstain.thresholds.guarantee import Counting
from abstain.thresholds.sample import check_chance, check_target


@final
@dataclass(frozen=True)
class RiskMonitor:
    """An alarm when the selective risk exceeds ``risk``, false with probability at most ``delta`` over all time.

    Give it the errors of accepted samples in the order of the *decisions*, not of the labels: if errors are reported
    sooner than correct answers, the first labels are mostly errors. `Watch` orders labels. Whether a label ever comes
    must not depend on the outcome.

    Parameters
    ----------
    risk : float
        The guaranteed risk.
    delta : float
        Probability of a false alarm, over all time.
    excess : RateEvidence, optional
        Evidence so far.
    largest : int, optional
        The guarantee covers clusters of at most this many rows with the same id; None for independent rows.
    counting : {"rows", "clusters"}
        What counts once: every row, or every cluster.
    graded : bool
        Whether the risk is a mean loss; each loss must come as an error with that probability, as `Watch` draws it.

    References
    ----------
    Ramdas et al., "Game-theoretic statistics and safe anytime-valid inference", 2023.

    Examples
    --------
    >>> monitor = RiskMonitor(risk=0.05, delta=0.05).update(errors=40, n=200)
    >>> monitor.alarm
    True
    """

    columns: ClassVar[tuple[str, ...]] = ("error", "accepted")
    meaning: ClassVar[str] = "the risk is above the guaranteed risk"
    caveat: ClassVar[str] = ""

    risk: float
    delta: float
    excess: RateEvidence | None = None
    """Evidence so far; none at the start."""
    largest: int | None = None
    """The guarantee is about clusters of at most so many rows with one id; None where it is about independent rows."""
    counting: Counting = "rows"
    """What counts once: every row, or every cluster whatever its size."""
    graded: bool = False
    """Whether answers have losses from 0 to 1: each counts as an error with the probability of its loss."""

    def __post_init__(self) -> None:
        check_target("risk", self.risk)
        check_chance("delta", self.delta)
        if self.largest is not None and self.largest < 1:
            raise InvalidInputError(f"`largest` must be at least 1, got {self.largest}.")
        if self.excess is not None and self.excess.of_parts == self.counts_rows:
            raise InvalidInputError(
                f"`excess` must be evidence on what is counted, {'rows' if self.counts_rows else 'clusters'}, got "
                f"evidence on {'clusters' if self.counts_rows else 'rows'}."
            )
        if self.excess is not None and self.excess.bound != self.risk:
            raise InvalidInputError(f"`excess` must be of the risk {self.risk}, got {self.excess.bound}.")

    @property
    def _excess(self) -> RateEvidence:
        return self.excess or RateEvidence(self.risk, of_parts=not self.counts_rows)

    @property
    def clustered(self) -> bool:
        """Whether rows of the same id are one cluster, which `observe` takes as one `outcome`."""
        return self.largest is not None or self.counting == "clusters"

    @property
    def counts_rows(self) -> bool:
        """Whether every outcome is an error or not, since no cluster that counts has more than one row."""
        return self.counting == "rows" and self.largest in (None, 1)

    def update(self, *, errors: int, n: int) -> Self:
        """The monitor after ``n`` more accepted and labelled samples with ``errors`` among them, in any order."""
        if not 0 <= errors <= n:
            raise InvalidInputError(f"`errors` must be between 0 and `n`, got {errors} of {n}.")
        return replace(self, excess=self._excess.update(ones=errors, n=n))

    def observe(self, errors: ArrayLike, /) -> Self:
        """The monitor after the errors (0 or 1) of more samples, in the order of their decisions.

        If rows form clusters, the outcome of each cluster.
        """
        return replace(self, excess=self._excess.observe(errors))

    @property
    def errors(self) -> int:
        """Errors seen, where each outcome is that of a row."""
        return int(self._excess.ones)

    @property
    def surplus(self) -> float:
        """Errors seen beyond what the risk allows for the accepted rows; of clusters that count once, their mean."""
        beyond = self._excess.ones - self.risk * self.n
        return beyond * ((self.largest or 1) if self.counting == "rows" else 1 / max(self.n, 1))

    @property
    def n(self) -> int:
        """Accepted and labelled samples seen, or clusters with some."""
        return self._excess.n

    @property
    def evidence(self) -> float:
        """Evidence now; 1/δ raises the alarm."""
        return self._excess.value

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/δ."""
        return self._excess.reached(self.delta)

    def interval(self) -> tuple[float, float]:
        """A confidence sequence for the risk, if it does not change: at all times together with probability 1 − δ."""
        if not self.counts_rows:
            raise InvalidInputError("`interval` must have independent rows, got a monitor of clusters.")
        e, n = self.errors, self.n
        if n == 0:
            return 0.0, 1.0
        level = betaln(e + 1, n - e + 1) + log(self.delta)

        def excess(p: float) -> float:
            return float(e * log(p) + (n - e) * log(1 - p) - level)

        peak = min(max(e / n, 1e-12), 1 - 1e-12)
        low = 0.0 if e == 0 or excess(1e-12) >= 0 else brentq(excess, 1e-12, peak)
        high = 1.0 if e == n or excess(1 - 1e-12) >= 0 else brentq(excess, peak, 1 - 1e-12)
        return float(low), float(high)

    def outcomes(self, clusters: ClusterValues, /) -> NDArray[np.float64]:
        """A number from 0 to 1 for the errors of a cluster's accepted and labelled rows, at most the risk on average.

        It is the risk plus the sum of error − risk, divided by the largest size of a cluster, or by the cluster's own
        size where clusters count once. NaN for a larger cluster, for which nothing is guaranteed.
        """
        sizes, wrong = clusters.sizes, clusters.sums()
        if self.counts_rows:
            outcome = (wrong > 0).astype(np.float64)
        else:
            over = clusters.rows if self.counting == "clusters" else np.full(len(sizes), self.largest or 1)
            outcome = np.clip(self.risk + (wrong - self.risk * sizes) / np.maximum(over, 1), 0.0, 1.0)
        too_large = (clusters.rows > (self.largest or 1)) & (self.counting == "rows")
        return np.where(too_large | (sizes == 0), np.nan, outcome)

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        return replace(self, excess=None)

    restarted = begun

    def numbers(self) -> dict[str, Any]:
        """The risk guaranteed and what is known of it."""
        counts: dict[str, Any] = {"guaranteed": self.risk, "n": self.n}
        if not self.counts_rows:
            counts |= {"clusters": self.n, "surplus": self.surplus}
        else:
            counts |= {"errors": self.errors} | dict(zip(("low", "high"), self.interval(), strict=True))
        return counts | {"evidence": self.evidence, "alarm_at": 1 / self.delta, "alarm": self.alarm}

    @property
    def _name(self) -> str:
        return "Mean loss" if self.graded else "Risk"

    def words(self) -> str:
        """The verdict, and an interval for the risk."""
        if not self.n:
            return f"{self._name}: unknown, no labels of accepted samples yet (guaranteed: at most {self.risk:g})."
        verdict = "ALARM, above the guaranteed" if self.alarm else "no alarm, consistent with the guaranteed"
        if not self.counts_rows:
            surplus = f"{self.surplus:+.1f}" if self.counting == "rows" else f"{self.surplus:+.3f} per cluster"
            what = "losses minus allowed losses" if self.graded else "errors minus allowed errors"
            return f"{self._name}: {verdict} {self.risk:g}. {self.n} clusters; {what}: {surplus}."
        low, high = self.interval()
        seen = (
            f"{self.n} accepted samples with a loss; mean loss"
            if self.graded
            else (f"{self.errors} errors in {self.n} accepted and labelled samples; risk")
        )
        wider = "; the test of the alarm looks at one side only" if self.alarm and low <= self.risk else ""
        return (
            f"{self._name}: {verdict} {self.risk:g}. {seen} "
            f"{low:.4f} to {high:.4f} with probability {1 - self.delta:g}, at all times{wider}."
        )
