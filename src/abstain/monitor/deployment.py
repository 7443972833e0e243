"""All that is watched of a deployed selector, in one value."""

from dataclasses import dataclass, fields, replace
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain.metrics.checks import rejected_last
from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.monitor import Monitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.scores import ScoreMonitor
from abstain.records import from_json, to_json
from abstain.selector import Selector
from abstain.thresholds.promise import RISK


@final
@dataclass(frozen=True)
class DeploymentMonitor:
    """The risk as labels arrive, and without labels the share accepted and the distribution of the confidence.

    Each alarm is false with probability at most its own δ over all time. Only the first is about the risk. Another
    monitor is another field.
    """

    risk: RiskMonitor | None = None
    acceptance: AcceptanceMonitor | None = None
    scores: ScoreMonitor | None = None

    @classmethod
    def of(cls, selector: Selector, /, *, risk: float | None = None, delta: float = 0.05) -> Self:
        """All that can be watched of a selector: its promised risk, or another, its share accepted and confidences."""
        t = selector.threshold
        if risk is None and t.promise.quantity == RISK:
            risk = t.promise.target
        accepted = AcceptanceMonitor.from_calibration(
            accepted=t.accepted, n=t.n, delta=delta, threshold_chosen_there=True
        )
        watched = None if risk is None else RiskMonitor(risk=risk, delta=delta)
        return cls(watched, accepted, ScoreMonitor(selector.distribution, delta))

    @property
    def parts(self) -> dict[str, Monitor]:
        """The monitors that there are, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: part for name, part in found.items() if part is not None}

    def observe_accepted(self, accepted: ArrayLike, /) -> Self:
        """The monitor after further decisions, in the order they came: whether each was accepted."""
        return self if self.acceptance is None else replace(self, acceptance=self.acceptance.observe(accepted))

    def observe_confidence(self, confidence: ArrayLike, /) -> Self:
        """The monitor after further confidences, in the order they came; NaN where a sample was not usable."""
        if self.scores is None:
            return self
        values = np.asarray(confidence, dtype=np.float64)
        return replace(self, scores=self.scores.observe(rejected_last(values)))

    def observe_errors(self, errors: ArrayLike, /) -> Self:
        """The monitor after the errors (0 or 1) of further accepted samples whose labels have arrived."""
        return self if self.risk is None else replace(self, risk=self.risk.observe(errors))

    def begun(self) -> Self:
        """All monitors as they were before their first sample."""
        return self._with({name: part.begun() for name, part in self.parts.items()})

    def restarted(self, names: tuple[str, ...], /) -> Self:
        """The monitors of these names without their evidence, the others as they are."""
        return self._with({name: self.parts[name].restarted() for name in names})

    @property
    def alarms(self) -> tuple[str, ...]:
        """The names of those that have raised an alarm: risk, acceptance, scores."""
        return tuple(name for name, part in self.parts.items() if part.alarm)

    def to_json(self) -> str:
        """The state as text."""
        return to_json(self)

    @classmethod
    def from_json(cls, text: str, /) -> Self:
        """The monitor that `to_json` wrote."""
        return from_json(text, cls)

    def _with(self, parts: dict[str, Monitor]) -> Self:
        return replace(self, **parts)  # type: ignore[arg-type]
