"""All that is watched of a deployed selector, in one value."""

from dataclasses import dataclass, fields, replace
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain.arguments import as_doubles
from abstain.metrics.checks import rejected_last
from abstain.monitor.acceptance import AcceptanceMonitor, share_error
from abstain.monitor.clusters import outcomes
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

    def __post_init__(self) -> None:
        if len({part.clustered for part in self.parts.values()}) > 1:
            raise ValueError("The monitors must all count rows, or all count clusters of rows, got both.")

    @classmethod
    def of(cls, selector: Selector, /, *, risk: float | None = None, delta: float = 0.05) -> Self:
        """All that can be watched of a selector: its promised risk, or another, its share accepted and confidences.

        If it was calibrated with ids, rows with the same ids are one cluster, and clusters are what is counted.
        """
        t = selector.threshold
        if risk is None and t.promise.quantity == RISK:
            risk = t.promise.target
        largest, counting = t.promise.largest, t.promise.counting
        watched = None if risk is None else RiskMonitor(risk, delta, largest=largest, counting=counting)
        scores = ScoreMonitor(selector.distribution, delta, clustered=_is_clustered(selector))
        return cls(watched, _acceptance(selector, delta), scores)

    def __str__(self) -> str:
        return "\n".join(part.words() for part in self.parts.values())

    @property
    def parts(self) -> dict[str, Monitor]:
        """The monitors that there are, by name."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: part for name, part in found.items() if part is not None}

    def observe_accepted(self, accepted: ArrayLike, /, *, ids: ArrayLike | None = None) -> Self:
        """The monitor after further decisions, in the order they came: whether each was accepted.

        Of a selector calibrated with ids, rows with the same ids are one cluster, which must be complete.
        """
        if self.acceptance is None:
            return self
        return replace(self, acceptance=self.acceptance.observe(outcomes(self.acceptance, accepted, ids)))

    def observe_confidence(self, confidence: ArrayLike, /, *, ids: ArrayLike | None = None) -> Self:
        """The monitor after further confidences, in the order they came; NaN where a sample was not usable."""
        if self.scores is None:
            return self
        values = rejected_last(as_doubles("confidence", confidence))
        return replace(self, scores=self.scores.observe(outcomes(self.scores, values, ids)))

    def observe_errors(self, errors: ArrayLike, /, *, ids: ArrayLike | None = None) -> Self:
        """The monitor after the errors (0 or 1) of further accepted samples, in the order of their decisions.

        NaN stands for a row that was rejected or has no label. Of a selector calibrated with ids all rows must be
        given: a cluster of more rows than the guarantee is about does not count.
        """
        return self if self.risk is None else replace(self, risk=self.risk.observe(outcomes(self.risk, errors, ids)))

    @property
    def clustered(self) -> bool:
        """Whether clusters of rows with the same ids are counted."""
        return any(part.clustered for part in self.parts.values())

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


def _is_clustered(selector: Selector) -> bool:
    """Whether it was calibrated with ids, whether or not any of them happened to repeat."""
    promise = selector.threshold.promise
    return promise.largest is not None or promise.counting == "clusters"


def _acceptance(selector: Selector, delta: float) -> AcceptanceMonitor | None:
    """Of the share accepted; None where calibration allows no range, for thresholds of groups chosen on clusters."""
    t, groups, distribution = selector.threshold, selector.groups, selector.distribution
    clustered = _is_clustered(selector)
    if t.promise.largest in (None, 1):  # every row that was counted is independent, or one of its cluster
        chosen, data = 1 if groups is None else len(groups.thresholds), selector.calibration
        n = t.n if groups is None or data is None else data.rows - data.held_out  # groups of no usable row count too
        found = AcceptanceMonitor.from_calibration(accepted=t.accepted, n=n, delta=delta, chosen_thresholds=chosen)
        return replace(found, clustered=clustered)
    if groups is not None:
        return None
    ranks = np.cumsum((0, *distribution.weights))  # of one row drawn from each cluster; the last is one more than n
    k, n = np.searchsorted(distribution.edges, t.value, side="right"), int(ranks[-1] - 1)
    within = share_error(n, delta / 4, 1)
    low, high = 1 - (ranks[k + 1] - 1) / n - within, 1 - ranks[k] / n + within
    return AcceptanceMonitor(max(float(low), 0.0), min(float(high), 1.0), delta, clustered=True)
