"""All that is watched of a deployed selector, in one state."""

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.scores import ScoreMonitor
from abstain.records import from_json, to_json


@final
@dataclass(frozen=True)
class DeploymentMonitor:
    """The risk as labels arrive, and without labels the share accepted and the law of the confidence.

    Each alarm is false with probability at most its own δ over all time. Only the first is about the risk.
    """

    risk: RiskMonitor | None = None
    acceptance: AcceptanceMonitor | None = None
    scores: ScoreMonitor | None = None

    def observe_accepted(self, accepted: ArrayLike, /) -> Self:
        """The monitor after further decisions, in the order they came: whether each was accepted."""
        return self if self.acceptance is None else replace(self, acceptance=self.acceptance.observe(accepted))

    def observe_confidence(self, confidence: ArrayLike, /) -> Self:
        """The monitor after further confidences, in the order they came; NaN where a sample was not usable."""
        if self.scores is None:
            return self
        values = np.asarray(confidence, dtype=np.float64)
        return replace(self, scores=self.scores.observe(np.where(np.isnan(values), -np.inf, values)))

    def observe_errors(self, errors: ArrayLike, /) -> Self:
        """The monitor after the errors (0 or 1) of further accepted samples whose labels have arrived."""
        return self if self.risk is None else replace(self, risk=self.risk.observe(errors))

    @property
    def alarms(self) -> tuple[str, ...]:
        """The names of those that have raised an alarm: risk, acceptance, scores."""
        parts = {"risk": self.risk, "acceptance": self.acceptance, "scores": self.scores}
        return tuple(name for name, part in parts.items() if part is not None and part.alarm)

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The monitor that `to_json` wrote."""
        return from_json(text, cls)
