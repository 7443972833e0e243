"""Compiled code takes rows as a loop does that looks at them one by one."""

from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pytest

from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, Row, ScoreMonitor, Watch
from abstain.monitor import watch as module
from abstain.monitor.monitor import ClusterValues, first_alarm

SAMPLE = np.random.default_rng(0).normal(size=300).round(1)


def monitors(largest=None, counting="rows"):
    clustered = largest is not None or counting == "clusters"
    share = AcceptanceMonitor(0.6, 0.7, 0.05, clustered=clustered)
    scores = ScoreMonitor.from_calibration(SAMPLE)
    return DeploymentMonitor(
        RiskMonitor(0.2, 0.05, largest=largest, counting=counting),
        share,
        ScoreMonitor(scores.distribution, 0.05, clustered=clustered),
    )


def is_decision(row):
    """Whether a row is a decision: it has a confidence, or a verdict and no label."""
    return row.confidence is not None or (row.accepted is not None and row.error is None)


class Loop:
    """What `Watch` counts, by dictionaries and lists."""

    def __init__(self, start, window):
        self.start, self.window, self.clustered = start, window, start.clustered
        self.entries, self.queue, self.open = {}, [], {}
        self.number = self.late = self.skipped = self.late_rows = self.too_large = 0
        self.times, self.found = {}, {name: [] for name in start.parts}

    def new(self, row):
        """Entry of the row's decision, what is new of it, and whether it was counted before."""
        base = self.entries.setdefault((row.id,), {"decisions": set()})
        kind, said = (row.id,), (repr(row.confidence), row.domain)
        if is_decision(row):
            other = base.get("said") and row.confidence is not None and base["said"] != said
            if other or (row.accepted is not None and base.get("told") not in (None, row.accepted)):
                kind = (row.id, said if row.confidence is not None else None, row.accepted)
            base["decisions"].add(kind)
        (times, labels), came = self.times.get(kind, (0, 0)), "alone"
        if is_decision(row) and (row.error is None or labels >= times):
            which = times = times + 1
            labels = max(labels, which) if row.error is not None else labels
        elif is_decision(row) or not labels:
            which = labels = labels + 1
        else:
            last = self.entries[kind if labels == 1 else (*kind, labels)]
            ended = last.get("ends") or (*kind, labels + 1) not in self.entries
            came = "ends" if labels >= times and ended else "alone"
            which = labels = labels + (came == "alone")
        if row.error is not None and came == "alone":
            target = self.agreeing(kind, which, row)
            labels = target if not is_decision(row) and which >= times else labels
            which = target
        self.times[kind] = times, labels
        key = kind if which == 1 else (*kind, which)
        entry = self.entries.setdefault(key, {"decisions": set()})
        decided, labelled = entry.get("decided", False), entry.get("labelled", False)
        error = None if labelled else row.error
        again = (decided or labelled) and error is None and (decided or not is_decision(row))
        fresh = is_decision(row) and not decided
        verdict = row.accepted if entry.get("verdict") is None else entry["verdict"]
        if is_decision(row):
            if not decided:
                entry |= {"said": said if row.confidence is not None else None, "told": row.accepted, "decided": True}
            if entry.get("verdict") is None:
                entry["verdict"] = row.accepted
        elif len(base["decisions"]) > 1 and not entry.get(came):
            raise ValueError("several of")
        else:
            entry |= {"alone": True, came: True}
        entry["labelled"] = labelled or row.error is not None
        if error is not None:
            entry["error"] = error
        return entry, (verdict, fresh, row.confidence if fresh else None, error), (decided, labelled, again)

    def agreeing(self, kind, which, row):
        """The decision like this, from ``which`` on, whose label is that of the row or not known; else ``which``."""
        for rank in range(which, 1000):
            entry = self.entries.get(kind if rank == 1 else (*kind, rank), {})
            if entry.get("error", row.error) == row.error:
                return rank
            last = (*kind, rank + 1) not in self.entries or (is_decision(row) and not entry.get("decided"))
            entry["disputed"] = entry.get("disputed") or last
            if entry["disputed"]:
                return which
        raise AssertionError

    def take(self, row):
        self.number += 1
        entry, new, was = {}, (row.accepted, is_decision(row), row.confidence, row.error), (False, False, False)
        is_known = row.id is not None and any(self.entries.get((row.id,), {}).get(f) for f in ("decided", "labelled"))
        if row.id is not None and (is_decision(row) or row.error is not None):
            entry, new, was = self.new(row)
        (verdict, fresh, confidence, error), (decided, labelled, again) = new, was
        each = {"number": self.number, "entry": entry if row.id is not None else {}, "has_id": row.id is not None}
        each |= {"verdict": verdict, "fresh": fresh, "confidence": confidence, "error": error}
        each |= {"decided": decided, "labelled": labelled}
        if not self.clustered:
            if again:
                self.skipped += 1
                return
            self.count([each])
            if error is not None and decided and verdict is not False:
                self.label(entry, error)
            else:
                self.push([each], entry)
            self.due(self.number)
            return
        is_open, is_label = row.id is not None and row.id in self.open, decided and not fresh
        if again:
            self.skipped += 1
        elif is_label and not is_open:
            if verdict is not False:
                self.label(entry, error)
                self.due(self.number)
        elif is_known and not is_open:
            self.late_rows += 1
        else:
            self.last = self.number if row.id is None else row.id
            self.open.setdefault(self.last, []).append(each)

    def count(self, rows):
        for each in rows:
            if each["fresh"] and each["verdict"] is not None:
                self.found["acceptance"].append((each["number"], float(each["verdict"])))
            if each["confidence"] is not None:
                value = -np.inf if np.isnan(each["confidence"]) else each["confidence"]
                self.found["scores"].append((each["number"], value))

    def push(self, rows, _=None):
        turn = {"rows": sum(not each["decided"] for each in rows), "labels": [], "pending": []}
        for each in rows:
            if each["verdict"] is False:
                continue
            if each["error"] is not None and each["decided"]:
                turn["pending"] = [entry for entry in turn["pending"] if entry is not each["entry"]]
                turn["labels"].append(each["error"])
            elif each["error"] is not None:
                turn["labels"].append(each["error"])
            elif each["fresh"] and each["has_id"] and not each["labelled"]:
                turn["pending"].append(each["entry"])
        if turn["labels"] or turn["pending"]:
            self.queue.append(turn)

    def label(self, entry, error):
        for turn in self.queue:
            if any(entry is other for other in turn["pending"]):
                turn["pending"] = [other for other in turn["pending"] if other is not entry]
                turn["labels"].append(error)
                return
        self.late += 1

    def due(self, number):
        while self.queue:
            sizes = [len(turn["labels"]) + len(turn["pending"]) for turn in self.queue]
            if self.queue[0]["pending"] and sum(sizes[1:]) < self.window:
                return
            turn = self.queue.pop(0)
            if turn["labels"]:
                values = sorted(map(float, turn["labels"]), reverse=True)
                outcome = self.start.risk.outcomes(
                    ClusterValues(
                        [""], np.array([turn["rows"]]), np.array(values, dtype=float), np.array([len(values)])
                    )
                )[0]
                self.too_large += bool(np.isnan(outcome))
                if not np.isnan(outcome):
                    self.found["risk"].append((number, outcome))

    def close(self):
        self.times = {}
        spans = sorted((rows[0]["number"], rows[-1]["number"], name) for name, rows in self.open.items())
        if any(each[1] >= other[0] for each, other in pairwise(spans)):
            spans.sort(key=lambda span: blake2b(str(span[2]).encode(), digest_size=8).digest())
        done = 0
        for _, last, name in spans:
            rows, done = self.open.pop(name), max(done, last)
            taken, self.found = self.found, {part: [] for part in self.found}
            self.count(rows)
            taken, self.found = self.found, taken
            for part in ("acceptance", "scores"):
                if values := [value for _, value in taken[part]]:
                    cluster = ClusterValues(
                        [str(name)], np.array([len(rows)]), np.array(values, dtype=float), np.array([len(values)])
                    )
                    self.found[part].append((done, self.start.parts[part].outcomes(cluster)[0]))
            self.push(rows)
            self.due(done)

    def verdicts(self):
        parts, alarms = {}, []
        for name, result in self.found.items():
            part, values = self.start.parts[name], [value for _, value in result]
            parts[name] = part.observe(values)
            if parts[name].alarm:
                alarms.append((result[first_alarm(part, values)][0], name))
        return parts, sorted(alarms)


def stream(rng, n, *, ids, late):
    """Rows that repeat ids, decisions and labels in every way, and files that they come in."""
    rows, waiting = [], []
    for k in range(n):
        worse = k > n // 2
        confidence = round(float(rng.normal() - 0.7 * worse), 1) if rng.random() < 0.95 else float("nan")
        name = None if rng.random() < 0.1 else f"s{k if ids == 'own' else k // 4 + rng.integers(2)}"
        error = bool(rng.random() < (0.6 if worse else 0.1))
        accepted = bool(rng.random() < 0.65) if ids == "own" else bool(confidence > -0.5)
        labelled = rng.random() < (0.3 if late else 0.9)
        row = Row(accepted, confidence, error if labelled else None, name)
        rows.append(row)
        if not labelled and name is not None:
            waiting.append(Row(accepted, confidence, error, name))
        if waiting and late and rng.random() < 0.5:
            later = waiting.pop(int(rng.integers(len(waiting))))
            rows.append(later if rng.random() < 0.5 or ids != "own" else Row(error=later.error, id=later.id))
        if rng.random() < 0.1:
            rows.append(rows[int(rng.integers(len(rows)))])
        if not labelled and rng.random() < 0.3:
            rows.append(Row(accepted, id=name) if rng.random() < 0.5 else Row(confidence=confidence, id=name))
    cuts = np.sort(rng.integers(len(rows), size=3))
    files = [rows[a:b] for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    return [*files, files[int(rng.integers(4))]]


@pytest.mark.parametrize("kind", [(None, "rows"), (1, "rows"), (6, "rows"), (None, "clusters")], ids=str)
@pytest.mark.parametrize("ids", ["own", "shared"])
def test_alarms_and_counts_are_those_of_a_loop(kind, ids, monkeypatch):
    monkeypatch.setattr(module, "CHUNK", 50)
    rng, alarms = np.random.default_rng([4, *kind[1].encode()]), 0
    for run in range(20):
        start, window = monitors(*kind), int(rng.choice([0, 5, 50]))
        loop, watches = Loop(start, window), [Watch(start, label_window=window) for _ in range(2)]
        raised, again = [], []
        for rows in stream(rng, 200, ids=ids, late=run % 3 > 0):
            for row in rows:
                loop.take(row)
            loop.close()
            raised += watches[0].observe(rows) + watches[0].close()
            for start_row in range(0, len(rows), 7):
                again += watches[1].observe(rows[start_row : start_row + 7])
            again += watches[1].close()
            assert watches[0].to_json() == watches[1].to_json()
            watches[1] = Watch.from_json(watches[1].to_json())
        parts, expected = loop.verdicts()
        assert watches[0].monitors.parts == parts
        assert [(alarm.row, alarm.name) for alarm in raised] == expected == [(alarm.row, alarm.name) for alarm in again]
        result = watches[0]
        assert (result.skipped, result.turns.late) == (loop.skipped, loop.late)
        assert (result.late_rows, result.too_large, result.rows) == (loop.late_rows, loop.too_large, loop.number)
        alarms += len(expected)
    assert alarms > 5
