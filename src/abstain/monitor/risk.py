"""Is the risk of accepted samples still what was promised? With labels, however late they come."""

from dataclasses import dataclass, replace
from math import exp, inf, log
from typing import Self, final

from scipy.optimize import brentq
from scipy.special import betainc, betaln

from abstain.monitor.state import fields_from_json, to_json


def log_evidence(errors: int, n: int, risk: float, /) -> float:
    """Log of the evidence against "the risk is at most ``risk``": a mixture over all larger risks.

    ∫ (q/r)^E ((1−q)/(1−r))^{t−E} dq / (1−r) over q from r to 1. Under the null its expectation is at most 1 at every
    time, so it exceeds 1/δ at any time with probability at most δ (Ville), even if the risk drifts below the target.
    """
    tail = 1 - betainc(errors + 1, n - errors + 1, risk)
    if tail <= 0:
        return -inf
    likelihood = errors * log(risk) + (n - errors) * log(1 - risk)
    return float(betaln(errors + 1, n - errors + 1) + log(tail) - log(1 - risk) - likelihood)


@final
@dataclass(frozen=True)
class RiskMonitor:
    """An alarm when the selective risk exceeds ``risk``, false with probability at most ``delta`` over all time.

    Feed it the errors of accepted samples as their labels arrive, in any batches; labels must be missing at random
    among the accepted. It is a few numbers, saved as JSON. (Ramdas et al., 2023)

    >>> monitor = RiskMonitor(risk=0.05, delta=0.05).update(errors=40, n=200)
    >>> monitor.alarm
    True
    """

    risk: float
    delta: float
    errors: int = 0
    n: int = 0
    highest: float = -inf
    """Log of the largest evidence so far."""

    def __post_init__(self) -> None:
        if not 0 < self.risk < 1 or not 0 < self.delta < 1:
            raise ValueError(f"`risk` and `delta` must be between 0 and 1, got {self.risk} and {self.delta}.")

    def update(self, *, errors: int, n: int) -> Self:
        """The monitor after ``n`` more accepted and labelled samples with ``errors`` among them."""
        if not 0 <= errors <= n:
            raise ValueError(f"`errors` must be between 0 and `n`, got {errors} of {n}.")
        total, count = self.errors + errors, self.n + n
        return replace(self, errors=total, n=count, highest=max(self.highest, log_evidence(total, count, self.risk)))

    @property
    def evidence(self) -> float:
        """Evidence now; 1/δ raises the alarm."""
        return exp(min(log_evidence(self.errors, self.n, self.risk), 700.0))

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/δ."""
        return self.highest >= -log(self.delta)

    def interval(self) -> tuple[float, float]:
        """A confidence sequence for the risk: it holds at all times together with probability 1 − δ."""
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

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The monitor that `to_json` wrote."""
        fields = fields_from_json(text, "RiskMonitor")
        if set(fields) != set(cls.__dataclass_fields__):
            raise ValueError(f"`text` must be the state of a RiskMonitor, got {', '.join(fields) or 'nothing'}.")
        return cls(**fields)
