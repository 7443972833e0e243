"""A monitor as a short table: all rows, the recent ones, and the groups closest to an alarm."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from abstain.monitor.recent import Recent

if TYPE_CHECKING:
    from abstain.monitor.deployment import DeploymentMonitor
    from abstain.monitor.groups import GroupMonitors

SHOWN_GROUPS = 8
KINDS = {"risk": "risk", "acceptance": "share accepted", "scores": "confidences"}
HEADER = ("monitored", "rows", "all time", "recent", "allowed", "evidence", "alarm at", "")


def table_lines(monitors: "DeploymentMonitor", recent: Recent | None = None, /) -> list[str]:
    """At most 13 lines: the monitors of all rows, then groups, those with an alarm first.

    All time and recent are observed; an alarm alone is a guarantee: it is false with probability at most δ.
    """
    rows = [_row(KINDS[name], name, part.numbers(), recent) for name, part in monitors.parts.items()]
    if monitors.groups is None:
        return _aligned([HEADER, *rows])
    return _aligned([HEADER, *rows, *_closest_groups(monitors.groups)]) + _others(monitors.groups)


def group_lines(groups: "GroupMonitors", /) -> list[str]:
    """At most 10 lines: a header and the groups closest to an alarm."""
    return _aligned([HEADER, *_closest_groups(groups)]) + _others(groups)


def _closest_groups(groups: "GroupMonitors") -> list[tuple[str, ...]]:
    shown = groups.by_closeness()[:SHOWN_GROUPS]
    return [
        _row(f"{name}: {KINDS[group.closest]}", group.closest, group.parts[group.closest].numbers(), group.recent)
        for name, group in shown
    ]


def _others(groups: "GroupMonitors") -> list[str]:
    """How many groups are not shown."""
    left = [group for _, group in groups.by_closeness()[SHOWN_GROUPS:]]
    alarms = sum(bool(group.alarms) for group in left)
    return [f"and {len(left)} more groups, {alarms or 'none'} of them with an alarm"] if left else []


def _row(title: str, kind: str, numbers: Mapping[str, Any], recent: Recent | None) -> tuple[str, ...]:
    ever = last = allowed = ""
    n = numbers["n"]
    if kind == "risk":
        ever = f"{numbers['errors'] / n:.1%}" if n and "errors" in numbers else ""
        last = "" if recent is None or recent.risk is None else f"{recent.risk:.1%}"
        allowed = f"≤ {numbers['guaranteed']:.1%}"
    if kind == "acceptance":
        ever = f"{numbers['accepted'] / n:.1%}" if n else ""
        last = "" if recent is None or recent.share is None else f"{recent.share:.1%}"
        allowed = f"{numbers['low']:.1%}–{numbers['high']:.1%}"
    evidence = f"{numbers['evidence']:.3g}" if numbers["evidence"] <= 1e6 else "> 1e6"
    return title[:40], f"{n:,}", ever, last, allowed, evidence, f"{numbers['alarm_at']:.4g}", "ALARM" * numbers["alarm"]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    right = [[cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)] for row in rows]
    return ["  ".join([row[0].ljust(widths[0]), *cells]).rstrip() for row, cells in zip(rows, right, strict=True)]
