"""What the monitors of a watch count: of rows as they come, and of clusters once they are closed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._kernels.decision_tables import BAD, FIRST, JOURNALED, LAST, OPEN, POPPED, MonitorTables
from abstain._kernels.decisions import DecisionRows, close_clusters, take_rows
from abstain.monitor.clusters import (
    HAS_CONFIDENCE,
    IS_DECISION,
    IS_ROW,
    ROW_KEY,
    VERDICT,
    WAS_LABELLED,
    OpenRows,
    grouped,
    in_order,
    ranks,
)  # fmt: skip
from abstain.monitor.deployment import DeploymentMonitor
from abstain.monitor.history import Alarm
from abstain.monitor.memory import Memory
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.rows import StreamRows

Ints = NDArray[np.int64]
Outcomes = dict[str, tuple[Ints, NDArray[np.float64]]]
"""What each monitor counts, with the numbers of the rows at which it does."""
Journal = Callable[[Memory, int], Ints]
"""Room to note so many changes to a memory, so that they can be undone."""


@final
@dataclass(frozen=True, eq=False)
class State:
    """The state of a watch, replaced in one step; the arrays of its memory change in place, and can be restored."""

    monitors: DeploymentMonitor
    alarms: tuple[Alarm, ...]
    memory: Memory
    counts: Ints
    """Numbers of `abstain._kernels.decision_tables`."""
    rows: int = 0
    too_large: int = 0
    open: tuple[OpenRows, ...] = ()
    """Rows of clusters that may grow, batch after batch."""


def count_rows(state: State, rows: StreamRows, journal: Journal, /) -> tuple[State, OpenRows, Outcomes]:
    """The state after rows, those that wait for their clusters, and what the monitors count of the others."""
    n, counts, start = len(rows), state.counts.copy(), state.rows + 1
    counts[[POPPED, JOURNALED, BAD]] = 0, 0, -1
    memory = state.memory.with_room(3 * n, n, counts)
    popped = np.empty((n + int(counts[LAST] - counts[FIRST]), 4), dtype=np.int64)
    left, keys, parts = np.empty((n, 9), dtype=np.int64), rows.keys(), state.monitors.parts
    clustered = state.monitors.clustered
    tables = MonitorTables(memory.newer, memory.older, memory.queue, journal(memory, 7 * n), counts)
    taken = DecisionRows(keys, rows.decisions(), rows.accepted, rows.error, rows.has_confidence)
    take_rows(taken, tables, start, clustered, "risk" in parts, left, popped)
    if counts[BAD] >= 0:
        raise InvalidInputError(
            "`id` must name a single decision if its label comes without the confidence, got several of "
            f"{rows.ids[counts[BAD]]!r}. Repeat the confidence with the label."
        )
    outcomes: Outcomes = {}
    if not clustered and "acceptance" in parts:
        at = np.flatnonzero((left[:, IS_DECISION] == 1) & (left[:, VERDICT] >= 0))
        outcomes["acceptance"] = start + at, left[at, VERDICT].astype(np.float64)
    if not clustered and "scores" in parts:
        at = np.flatnonzero(left[:, HAS_CONFIDENCE])
        outcomes["scores"] = start + at, _usable(rows.confidence[at])
    state = replace(state, memory=memory, counts=counts, rows=state.rows + n)
    state = _with_risk(state, popped, outcomes)
    opened = OpenRows.none()
    if clustered:
        opened = OpenRows.of(
            rows, keys, left, start=start, before=int(counts[OPEN] - np.count_nonzero(left[:, 0] == 2))
        )
    return state, opened, outcomes


def count_clusters(state: State, rows: OpenRows, journal: Journal, /) -> tuple[State, Outcomes]:
    """The state after clusters, and what the monitors count of them."""
    numbered, first, cluster = np.unique(rows.cluster, return_index=True, return_inverse=True)
    names = [rows.names[k] or str(rows.number[k]) for k in first.tolist()]
    rank = ranks(rows.number, cluster, names)
    cluster, names, n = rank[cluster], in_order(names, rank), len(numbered)
    done = np.zeros(n, dtype=np.int64)
    np.maximum.at(done, cluster, rows.number)
    done = np.maximum.accumulate(done) if n else done
    size = np.bincount(cluster, rows.left[:, IS_ROW], minlength=n).astype(np.int64)
    errors, verdict = rows.labelled(), rows.left[:, VERDICT]
    is_decision = rows.left[:, IS_DECISION] == 1
    outcomes: Outcomes = {}
    values = {
        "acceptance": (verdict.astype(np.float64), is_decision & (verdict >= 0)),
        "scores": (_usable(rows.confidence), rows.left[:, HAS_CONFIDENCE] == 1),
    }
    for part, (each, counted) in values.items():
        if part in state.monitors.parts:
            outcome = state.monitors.parts[part].outcomes(replace(grouped(cluster, each, counted, names), rows=size))
            outcomes[part] = done[~np.isnan(outcome)], outcome[~np.isnan(outcome)]
    waits = is_decision & (errors < 0) & (verdict != 0) & (rows.left[:, ROW_KEY] != 0)
    waits &= rows.left[:, WAS_LABELLED] == 0
    at = np.flatnonzero(waits)
    at = at[np.argsort(cluster[at], kind="stable")]
    right, wrong = (np.bincount(cluster[errors == value], minlength=n) for value in (0, 1))
    counts = state.counts.copy()
    counts[[POPPED, JOURNALED]] = 0
    keys = np.unique(np.concatenate([rows.left[:, ROW_KEY], rows.cluster[rows.cluster != -rows.number]]))
    memory = state.memory.with_room(len(at) + len(keys), n, counts)
    popped = np.empty((n + int(counts[LAST] - counts[FIRST]), 4), dtype=np.int64)
    changes = journal(memory, 2 * (len(at) + len(keys)))
    close_clusters(
        np.stack([done, size, right, wrong], axis=1),
        keys,
        np.cumsum(np.bincount(cluster[at], minlength=n)),
        np.ascontiguousarray(rows.left[at, ROW_KEY]),
        MonitorTables(memory.newer, memory.older, memory.queue, changes, counts),
        "risk" in state.monitors.parts,
        popped,
    )
    state = replace(state, memory=memory, counts=counts)
    return _with_risk(state, popped, outcomes), outcomes


def _with_risk(state: State, popped: Ints, outcomes: Outcomes) -> State:
    """Add what the risk monitor counts of labels that need not wait; clusters that are too large are counted."""
    risk = state.monitors.risk
    if risk is None:
        return state
    number, rows, right, wrong = popped[: state.counts[POPPED]].T
    values = np.repeat(np.tile([1.0, 0.0], len(number)), np.stack([wrong, right], axis=1).ravel())
    counted = risk.outcomes(ClusterValues([], rows, values, np.cumsum(right + wrong)))
    outcomes["risk"] = number[~np.isnan(counted)], counted[~np.isnan(counted)]
    return replace(state, too_large=state.too_large + int(np.count_nonzero(np.isnan(counted))))


def _usable(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Confidences, −inf where a sample is not finite."""
    return np.where(np.isnan(confidence), -np.inf, confidence)
