"""All monitors of a deployed selector, in one value."""

from dataclasses import dataclass, fields, replace
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from abstain._arguments import as_doubles
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._io.records import from_json, to_json
from abstain.metrics.checks import rejected_last
from abstain.monitor.acceptance import AcceptanceMonitor, share_error
from abstain.monitor.clusters import outcomes
from abstain.monitor.drift import DriftMonitor
from abstain.monitor.groups import GroupMonitor, GroupMonitors
from abstain.monitor.monitor import Monitor
from abstain.monitor.risk import RiskMonitor
from abstain.monitor.scores import ScoreMonitor
from abstain.monitor.table import table_lines
from abstain.selector import Cascade, Selector


@final
@dataclass(frozen=True)
class DeploymentMonitor:
    """Monitors of a deployed selector: risk, share accepted, and distribution of the confidence.

    Each raises a false alarm with probability at most its own δ over all time. Only the first needs labels, and only it
    is about the risk. Observing returns a new value. Another monitor is another field.

    Parameters
    ----------
    risk : RiskMonitor, optional
    acceptance : AcceptanceMonitor, optional
    scores : ScoreMonitor, optional
    groups : GroupMonitors, optional
        Monitors of each group, for a `Watch`; `by_group` makes them.
    """

    risk: RiskMonitor | None = None
    acceptance: AcceptanceMonitor | None = None
    scores: ScoreMonitor | None = None
    groups: GroupMonitors | None = None

    def __post_init__(self) -> None:
        if len({part.clustered for part in self.parts.values()}) > 1:
            raise InvalidInputError("The monitors must all count rows, or all count clusters of rows, got both.")

    @classmethod
    def of(
        cls, selector: Selector | Cascade, /, *, risk: float | None = None, delta: float = 0.05, per: str | None = None
    ) -> Self:
        """All monitors that a selector allows: of its guaranteed risk, its share accepted and its confidences.

        If it was calibrated with ids, rows with the same id are one cluster, and clusters are counted.

        Parameters
        ----------
        selector : Selector or Cascade
            What is deployed.
        risk : float, optional
            The risk to monitor, if not the guaranteed one.
        delta : float
            Probability of a false alarm of each kind, over all time.
        per : str, optional
            Monitor each group too: ``class``, or the column that names the groups. Half of delta is for all rows
            together, the other half for all groups. The risk of every group is compared with that of all rows; where
            the selector has one threshold, it is not guaranteed of groups unless there is a guarantee for each. The
            stages of a cascade are monitored where it has one.
        """
        if isinstance(selector, Cascade):
            per, selector = per or selector.guaranteed_per, selector.selector
        if not isinstance(selector, Selector):
            raise InvalidTypeError(f"`selector` must be a Selector or a Cascade, got {type(selector).__name__}.")
        if per is not None:
            return cls.of(selector, risk=risk, delta=delta / 2).by_group(per, delta=delta / 2, selector=selector)
        t = selector.threshold
        if risk is None:
            guaranteed = (each for each in (t.guarantee, *t.further) if each.quantity.is_risk)
            risk = next((each.asked for each in guaranteed), None)
        largest, counting = t.guarantee.largest, t.guarantee.counting
        graded = any(each.quantity.event == "loss" for each in (t.guarantee, *t.further))
        watched = None if risk is None else RiskMonitor(risk, delta, largest=largest, counting=counting, graded=graded)
        scores = ScoreMonitor(selector.distribution, delta, clustered=_is_clustered(selector))
        return cls(watched, _acceptance(selector, delta), scores)

    def by_group(self, per: str, /, *, delta: float, selector: Selector | None = None) -> Self:
        """The same with monitors for each group besides, which a `Watch` gives their rows.

        Parameters
        ----------
        per : str
            ``class``, or the column that names the groups.
        delta : float
            Probability of a false alarm of a kind in any group, over all time.
        selector : Selector, optional
            What is deployed: the groups of its calibration are known before they appear.
        """
        data = None if selector is None else selector.calibration
        slices = () if data is None else data.classes if per == "class" else data.domains
        risk = self.risk and self.risk.begun()
        if risk is not None and selector is not None:
            risk = _with_group_risk(risk, selector, {each.name for each in slices})
        template = GroupMonitor(risk, scores=DriftMonitor(delta))
        shares = self.acceptance is not None and not self.clustered
        return replace(self, groups=GroupMonitors.of(per, delta, template, slices, shares=shares))

    def __str__(self) -> str:
        return "\n".join(table_lines(self))

    @property
    def parts(self) -> dict[str, Monitor]:
        """The monitors that there are, by name."""
        monitors = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "groups"}
        return {name: part for name, part in monitors.items() if part is not None}

    def observe_accepted(self, accepted: ArrayLike, /, *, ids: ArrayLike | None = None) -> Self:
        """The monitors after more decisions, in the order they came: whether each was accepted.

        If the selector was calibrated with ids, rows with the same id are one cluster, which must be complete.
        """
        return self._observed("acceptance", accepted, ids)

    def observe_confidence(self, confidence: ArrayLike, /, *, ids: ArrayLike | None = None) -> Self:
        """The monitors after more confidences, in the order they came; NaN for non-finite rows."""
        return self._observed("scores", rejected_last(as_doubles("confidence", confidence)), ids)

    def observe_errors(self, errors: ArrayLike, /, *, ids: ArrayLike | None = None) -> Self:
        """The monitors after the errors (0 or 1) of more accepted samples, in the order of their decisions.

        NaN is for rows that were rejected or have no label. If the selector was calibrated with ids, all rows must be
        given: a cluster with more rows than the guarantee covers does not count.
        """
        return self._observed("risk", errors, ids)

    def _observed(self, name: str, values: ArrayLike, ids: ArrayLike | None) -> Self:
        part = self.parts.get(name)
        return self if part is None else self._with({name: part.observe(outcomes(part, values, ids))})

    def metrics(self) -> dict[str, float]:
        """All numbers of the monitors by name, for dashboards: ``risk_evidence``, ``acceptance_alarm`` and so on.

        Returns
        -------
        dict
            Name to number; alarms are 1 or 0, and ``alarms`` is how many there are. ``*_alarm_at`` is the evidence that
            raises an alarm. Numbers of a group have a slash and its name after theirs: ``risk_evidence/A``.
        """
        numbers = {
            f"{part}_{name}": float(value)
            for part, monitor in self.parts.items()
            for name, value in monitor.numbers().items()
        }
        alarms = len(self.alarms) + (0 if self.groups is None else len(self.groups.alarms))
        return {"alarms": float(alarms)} | numbers | ({} if self.groups is None else dict(self.groups.metrics()))

    @property
    def clustered(self) -> bool:
        """Whether clusters of rows with the same ids are counted."""
        return any(part.clustered for part in self.parts.values())

    def begun(self) -> Self:
        """All monitors as they were before their first sample."""
        groups = None if self.groups is None else self.groups.begun()
        return replace(self._with({name: part.begun() for name, part in self.parts.items()}), groups=groups)

    def restarted(self, names: tuple[str, ...], of_groups: tuple[tuple[str, str], ...] = (), /) -> Self:
        """The monitors of these names, and of these names and groups, without their evidence."""
        groups = None if self.groups is None else self.groups.restarted(of_groups)
        return replace(self._with({name: self.parts[name].restarted() for name in names}), groups=groups)

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


def _with_group_risk(monitor: RiskMonitor, selector: Selector, names: set[str]) -> RiskMonitor:
    """Of the risk that is guaranteed of these groups, unless another is monitored."""
    t = selector.threshold
    guarantees = (t.guarantee, *t.further)
    of_all = next((each.asked for each in guarantees if each.quantity.is_risk), monitor.risk)
    of_groups = next((each.asked for each in guarantees if each.groups and set(each.groups) <= names), of_all)
    return replace(monitor, risk=of_groups) if monitor.risk == of_all else monitor


def _is_clustered(selector: Selector) -> bool:
    """Whether it was calibrated with ids, whether or not any of them happened to repeat."""
    guarantee = selector.threshold.guarantee
    return guarantee.largest is not None or guarantee.counting == "clusters"


def _acceptance(selector: Selector, delta: float) -> AcceptanceMonitor | None:
    """Of the share accepted; None where calibration allows no range, for thresholds of groups chosen on clusters."""
    t, groups, distribution = selector.threshold, selector.groups, selector.distribution
    clustered = _is_clustered(selector)
    if t.guarantee.largest in (None, 1):  # every row that was counted is independent, or one of its cluster
        chosen, data = 1 if groups is None else len(groups.thresholds), selector.calibration
        n = (
            t.n if groups is None or data is None else data.rows - data.held_out
        )  # groups without a finite row count too
        monitor = AcceptanceMonitor.from_calibration(accepted=t.accepted, n=n, delta=delta, chosen_thresholds=chosen)
        return replace(monitor, clustered=clustered)
    if groups is not None:
        return None
    ranks = np.cumsum((0, *distribution.weights))  # of one row drawn from each cluster; the last is one more than n
    k, n = np.searchsorted(distribution.edges, t.value, side="right"), int(ranks[-1] - 1)
    within = share_error(n, delta / 4, 1)
    low, high = 1 - (ranks[k + 1] - 1) / n - within, 1 - ranks[k] / n + within
    return AcceptanceMonitor(max(float(low), 0.0), min(float(high), 1.0), delta, clustered=True)
