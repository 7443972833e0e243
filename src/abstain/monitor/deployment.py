"""All that is watched of a deployed selector, in one state."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.scores import ScoreMonitor
from abstain.monitor.state import part_from_json, to_json


@final
@dataclass(frozen=True)
class DeploymentMonitor:
    """The risk as labels arrive, and without labels the share accepted and the law of the confidence.

    Each alarm is false with probability at most its own δ over all time. Only the first is about the risk.
    """

    risk: RiskMonitor | None = None
    acceptance: AcceptanceMonitor | None = None
    scores: ScoreMonitor | None = None

    def observe_decisions(self, accepted: ArrayLike, confidence: ArrayLike | None = None, /) -> Self:
        """The monitor after further decisions, in the order they came; a NaN confidence is that of an unusable row."""
        acceptance, scores = self.acceptance, self.scores
        if acceptance is not None:
            acceptance = acceptance.observe(accepted)
        if scores is not None and confidence is not None:
            values = np.asarray(confidence, dtype=np.float64)
            scores = scores.observe(np.where(np.isnan(values), -np.inf, values))
        return type(self)(self.risk, acceptance, scores)

    def observe_labels(self, errors: ArrayLike, /) -> Self:
        """The monitor after the errors (0 or 1) of further accepted samples whose labels have arrived."""
        risk = None if self.risk is None else self.risk.observe(errors)
        return type(self)(risk, self.acceptance, self.scores)

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
        return part_from_json(text, cls)
