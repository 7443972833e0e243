"""Does the selector still accept as many samples as in calibration? Without labels."""

from dataclasses import dataclass, replace
from math import inf, log
from typing import Self, final

from abstain.monitor.risk import log_evidence
from abstain.monitor.state import fields_from_json, to_json
from abstain.thresholds.binomial import lower_bound, upper_bound


@final
@dataclass(frozen=True)
class AcceptanceMonitor:
    """An alarm when the share accepted leaves what calibration allows, false with probability at most δ over all time.

    Half of δ covers the calibration's own uncertainty, a quarter each a rise and a fall. A steady share does NOT
    certify the risk: a change in what the labels are given the inputs cannot be seen without labels.
    """

    low: float
    high: float
    delta: float
    accepted: int = 0
    n: int = 0
    highest: float = -inf

    @classmethod
    def from_calibration(cls, *, accepted: int, n: int, delta: float = 0.05) -> Self:
        """From the counts of the calibration sample."""
        return cls(lower_bound(accepted, n, delta / 4), upper_bound(accepted, n, delta / 4), delta)

    def update(self, *, accepted: int, n: int) -> Self:
        """The monitor after ``n`` more samples, ``accepted`` of them accepted."""
        if not 0 <= accepted <= n:
            raise ValueError(f"`accepted` must be between 0 and `n`, got {accepted} of {n}.")
        total, count = self.accepted + accepted, self.n + n
        rise = log_evidence(total, count, self.high) if self.high < 1 else -inf
        fall = log_evidence(count - total, count, 1 - self.low) if self.low > 0 else -inf
        return replace(self, accepted=total, n=count, highest=max(self.highest, rise, fall))

    @property
    def alarm(self) -> bool:
        """Whether the share has been shown to be outside."""
        return self.highest >= -log(self.delta / 4)

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The monitor that `to_json` wrote."""
        fields = fields_from_json(text, "AcceptanceMonitor")
        if set(fields) != set(cls.__dataclass_fields__):
            raise ValueError(f"`text` must be the state of an AcceptanceMonitor, got {', '.join(fields) or 'nothing'}.")
        return cls(**fields)
