"""A monitor for each group, with the chance of a false alarm in any of them bounded."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf, log
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain.monitor.acceptance import AcceptanceMonitor
from abstain.monitor.drift import DriftMonitor
from abstain.monitor.recent import EMPTY, Recent
from abstain.monitor.risk import RiskMonitor
from abstain.outputs.columns import text
from abstain.selector.calibration_data import SliceCounts
from abstain.thresholds.sample import check_chance

MOST_NEW = 1000
"""Groups unknown to calibration that are monitored; rows of later ones count in all rows together."""
GroupPart = RiskMonitor | AcceptanceMonitor | DriftMonitor


@final
@dataclass(frozen=True)
class GroupMonitor:
    """The monitors of one group: those that there are.

    Parameters
    ----------
    risk : RiskMonitor, optional
    acceptance : AcceptanceMonitor, optional
    scores : DriftMonitor, optional
    recent : Recent
        Its last labelled rows and decisions.
    """

    risk: RiskMonitor | None = None
    acceptance: AcceptanceMonitor | None = None
    scores: DriftMonitor | None = None
    recent: Recent = EMPTY

    @property
    def parts(self) -> dict[str, GroupPart]:
        """The monitors by name."""
        parts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "recent"}
        return {name: part for name, part in parts.items() if part is not None}

    @property
    def alarms(self) -> tuple[str, ...]:
        """The names of those that have raised an alarm."""
        return tuple(name for name, part in self.parts.items() if part.alarm)

    @property
    def closest(self) -> str:
        """The risk if it has an alarm, since it alone is guaranteed; else the monitor with one, or closest to one."""
        return max(self.parts, key=self._priority)

    def _priority(self, name: str) -> tuple[bool, bool, float, bool]:
        (alarm, evidence), is_risk = _closeness(self.parts[name]), name == "risk"
        return alarm, alarm and is_risk, evidence, is_risk

    @property
    def closeness(self) -> tuple[bool, float]:
        """Whether there is an alarm, and how close the evidence is to one."""
        return _closeness(self.parts[self.closest]) if self.parts else (False, -inf)

    def replaced(self, name: str, part: GroupPart, /) -> Self:
        """With another monitor of this name."""
        return replace(self, **{name: part})  # type: ignore[arg-type]


@final
@dataclass(frozen=True)
class GroupMonitors:
    """A risk, acceptance and drift monitor for each group; any of a kind alarms falsely with probability at most δ.

    Of δ, each of the K groups that calibration knew has δ/(K + 1), and the j-th group that appears later
    δ/((K + 1)j(j + 1)); these sum to δ. So groups may appear at any time, in any order, however it depends on the past.

    Parameters
    ----------
    per : str
        What the groups are: ``class``, or the column that names them.
    delta : float
        Probability of a false alarm of each kind in any group, over all time.
    template : GroupMonitor
        The monitors of a group that calibration did not know, before its first row; their δ is replaced.
    known : int
        Groups that calibration knew.
    monitors : dict of str to GroupMonitor
        By name, the known ones first, then in order of appearance.
    unwatched : int
        Rows of groups that came after `MOST_NEW` others.
    """

    per: str
    delta: float
    template: GroupMonitor
    known: int = 0
    monitors: dict[str, GroupMonitor] = field(default_factory=dict)
    unwatched: int = 0

    def __post_init__(self) -> None:
        check_chance("delta", self.delta)
        if not 0 <= self.known <= len(self.monitors) <= self.known + MOST_NEW:
            raise InvalidInputError("`text` must be the state of a monitor, got impossible groups.")

    @classmethod
    def of(
        cls,
        per: str,
        delta: float,
        template: GroupMonitor,
        slices: Iterable[SliceCounts] = (),
        /,
        *,
        shares: bool = True,
    ) -> Self:
        """For groups of which calibration knew ``slices``; with ``shares`` also of the share accepted of each."""
        known = {text(each.name) or each.name: each for each in slices}
        own = delta / (len(known) + 1)
        monitors = {name: _at(template, own) for name in known}
        for name, each in known.items() if shares else ():
            share = AcceptanceMonitor.from_calibration(accepted=each.accepted, n=each.n, delta=own, chosen_thresholds=1)
            monitors[name] = replace(monitors[name], acceptance=share)
        return cls(per, delta, template, len(known), monitors)

    def level(self, new: int, /) -> float:
        """The part of δ of the j-th group that calibration did not know."""
        return self.delta / ((self.known + 1) * new * (new + 1))

    def joined(self, names: Iterable[str], /) -> Self:
        """With monitors for groups that have not appeared before, in this order."""
        monitors = dict(self.monitors)
        for name in names:
            if name not in monitors and len(monitors) < self.known + MOST_NEW:
                monitors[name] = _at(self.template, self.level(len(monitors) - self.known + 1))
        return replace(self, monitors=monitors) if len(monitors) > len(self.monitors) else self

    def codes(self, names: Sequence[str | None], /) -> NDArray[np.int64]:
        """(n,) the number of each group; −1 for none, or for one that is not monitored."""
        numbers: dict[str | None, int] = {name: number for number, name in enumerate(self.monitors)}
        return np.fromiter((numbers.get(name, -1) for name in names), np.int64, len(names))

    def with_window(self, window: int, /) -> Self:
        """The same with recent windows of this size, before the first row."""
        recent = Recent(window)
        monitors = {name: replace(group, recent=recent) for name, group in self.monitors.items()}
        return replace(self, template=replace(self.template, recent=recent), monitors=monitors)

    @property
    def alarms(self) -> tuple[tuple[str, str], ...]:
        """Kind and group of all that have raised an alarm."""
        return tuple((kind, name) for name, group in self.monitors.items() for kind in group.alarms)

    def begun(self) -> Self:
        """As it was before the first row: the known groups alone."""
        known = list(self.monitors.items())[: self.known]
        return replace(self, monitors={name: _begun(group) for name, group in known}, unwatched=0)

    def restarted(self, alarms: Iterable[tuple[str, str]], /) -> Self:
        """The monitors of these kinds and groups without their evidence."""
        monitors = dict(self.monitors)
        for kind, name in alarms:
            monitors[name] = monitors[name].replaced(kind, monitors[name].parts[kind].restarted())
        return replace(self, monitors=monitors)

    def by_closeness(self) -> list[tuple[str, GroupMonitor]]:
        """Groups with an alarm first, then the closest to one."""
        return sorted(self.monitors.items(), key=lambda item: item[1].closeness, reverse=True)

    def numbers(self) -> dict[str, Any]:
        """The numbers of every group, by its name."""
        return {
            name: {kind: part.numbers() for kind, part in group.parts.items()} | {"recent": group.recent.metrics()}
            for name, group in self.monitors.items()
        }

    def metrics(self) -> Iterator[tuple[str, float]]:
        """Names such as ``risk_evidence/A`` and their numbers."""
        for name, parts in self.numbers().items():
            for kind, numbers in parts.items():
                for quantity, value in numbers.items():
                    yield f"{quantity if kind == 'recent' else f'{kind}_{quantity}'}/{name}", float(value)


def _closeness(part: GroupPart) -> tuple[bool, float]:
    """Whether there is an alarm, and the log of the evidence as a fraction of what raises one; none without rows."""
    numbers = part.numbers()
    evidence = log(max(numbers["evidence"], 1e-300)) / log(numbers["alarm_at"])
    return part.alarm, evidence if part.n else -inf


def _at(group: GroupMonitor, delta: float) -> GroupMonitor:
    """The same monitors at another δ."""
    return replace(group, **{name: replace(part, delta=delta) for name, part in group.parts.items()})  # type: ignore[arg-type]


def _begun(group: GroupMonitor) -> GroupMonitor:
    parts = {name: part.restarted() for name, part in group.parts.items()}
    return replace(group, recent=replace(group.recent, errors="", accepted=""), **parts)  # type: ignore[arg-type]
