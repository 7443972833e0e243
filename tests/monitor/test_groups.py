"""Monitors of each group."""

from itertools import pairwise

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate
from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, Row, ScoreMonitor, Watch
from abstain.monitor.drift import REFERENCE_ROWS, DriftMonitor
from abstain.monitor.groups import GroupMonitor, GroupMonitors
from abstain.selector.calibration_data import SliceCounts

SAMPLE = np.random.default_rng(0).normal(size=300)


def monitors(delta=0.05, slices=(), **risk):
    clustered = bool(risk)
    template = GroupMonitor(RiskMonitor(0.2, delta, **risk), scores=DriftMonitor(delta))
    groups = GroupMonitors.of("group", delta, template, slices, shares=not clustered)
    scores = ScoreMonitor(ScoreMonitor.from_calibration(SAMPLE).distribution, delta, clustered=clustered)
    return DeploymentMonitor(RiskMonitor(0.2, delta, **risk), None, scores, groups)


def stream(n=900, seed=1):
    rng = np.random.default_rng(seed)
    names = rng.choice(["a", "b", "c"], size=n, p=[0.6, 0.3, 0.1])
    wrong = rng.random(n) < np.where(names == "b", 0.35, 0.15)
    accepted = rng.random(n) < 0.7
    return [
        Row(bool(accepted[k]), float(rng.normal()), bool(wrong[k]), id=str(k), domain=str(names[k])) for k in range(n)
    ]


def test_each_group_is_monitored_as_if_its_rows_were_alone():
    rows, slices = stream(), [SliceCounts("b", 100, 70, 0)]
    watch = Watch(monitors(slices=slices))
    watch.observe(rows)
    groups = watch.monitors.groups
    first = list(dict.fromkeys(row.domain for row in rows if row.domain != "b"))
    assert list(groups.monitors) == ["b", *first]
    levels = {"b": 0.05 / 2, first[0]: 0.05 / 4, first[1]: 0.05 / 12}
    for name, delta in levels.items():
        own = [row for row in rows if row.domain == name]
        errors = [row.error for row in own if row.accepted]
        assert groups.monitors[name].risk == RiskMonitor(0.2, delta).observe(errors)
        assert groups.monitors[name].scores == DriftMonitor(delta).observe([row.confidence for row in own])
        assert groups.monitors[name].recent.errors == "".join(str(int(error)) for error in errors)
    share = AcceptanceMonitor.from_calibration(accepted=70, n=100, delta=0.05 / 2, chosen_thresholds=1)
    assert groups.monitors["b"].acceptance == share.observe([row.accepted for row in rows if row.domain == "b"])
    assert groups.monitors["a"].acceptance is None
    assert {(alarm.name, alarm.group) for alarm in watch.alarms} >= {("risk", "b")}


@pytest.mark.parametrize("size", [1, 7, 250])
def test_batches_and_saved_states_change_nothing(size):
    rows = stream(400)
    whole = Watch(monitors())
    raised = whole.observe(rows)
    pieces, in_pieces = Watch(monitors()), []
    for start in range(0, len(rows), size):
        in_pieces += pieces.observe(rows[start : start + size])
        pieces = Watch.from_json(pieces.to_json()) if start % 50 == 0 else pieces
    assert in_pieces == raised
    assert pieces.to_json() == whole.to_json()


def test_a_late_label_counts_in_the_group_of_its_decision():
    watch = Watch(monitors(), label_window=100)
    watch.observe([Row(True, 0.5, id=str(k), domain="ab"[k % 2]) for k in range(40)])
    watch = Watch.from_json(watch.to_json())
    watch.observe([Row(error=k % 2 == 0, id=str(k)) for k in reversed(range(40))])
    groups = watch.monitors.groups.monitors
    assert [(groups[name].risk.n, groups[name].risk.errors) for name in "ab"] == [(20, 20), (20, 0)]


@pytest.mark.parametrize("counting", ["rows", "clusters"])
def test_rows_of_a_cluster_count_in_their_groups(counting):
    """Clusters of up to three rows in two groups, labels partly later; each part's outcome is worked out here."""
    rng = np.random.default_rng(3)
    rows, later = [], []
    expected = {"a": [], "b": []}
    for cluster in range(120):
        size = int(rng.integers(1, 4))
        drawn = [(str(rng.choice(["a", "b"])), bool(rng.random() < 0.3), bool(rng.random() < 0.8)) for _ in range(size)]
        for number, (group, wrong, accepted) in enumerate(drawn):
            row = Row(accepted, float(rng.normal()), None if number == 1 else wrong, id=str(cluster), domain=group)
            rows.append(row)
            if number == 1:
                later.append(Row(accepted, row.confidence, wrong, id=str(cluster), domain=group))
        over = size if counting == "clusters" else 3
        for name, values in expected.items():
            own = [wrong for group, wrong, accepted in drawn if group == name and accepted]
            if own:
                values.append(min(max(0.2 + (sum(own) - 0.2 * len(own)) / over, 0.0), 1.0))
    watch = Watch(monitors(largest=3, counting=counting))
    watch.observe(rows)
    watch.close()
    watch = Watch.from_json(watch.to_json())
    watch.observe(later)
    watch.close()
    for name, values in expected.items():
        risk = watch.monitors.groups.monitors[name].risk
        assert risk.n == len(values)
        np.testing.assert_allclose(risk.evidence, risk.begun().observe(values).evidence)
    whole = watch.monitors.risk
    assert whole.n == len({row.id for row in rows if row.accepted})


def test_shares_of_delta_sum_to_it():
    groups = GroupMonitors.of("group", 0.05, GroupMonitor(), [SliceCounts(name, 9, 5, 0) for name in "abc"])
    later = sum(groups.level(j) for j in range(1, 100_000))
    assert later + 3 * groups.monitors["a"].acceptance.delta == pytest.approx(0.05, abs=1e-6)


def test_groups_beyond_the_limit_count_in_all_rows_only(monkeypatch):
    monkeypatch.setattr("abstain.monitor.groups.MOST_NEW", 2)
    watch = Watch(monitors())
    watch.observe([Row(True, 0.5, False, domain=name) for name in "abcad"])
    assert (list(watch.monitors.groups.monitors), watch.monitors.groups.unwatched, watch.monitors.risk.n) == (
        ["a", "b"],
        2,
        5,
    )


def test_an_acknowledged_group_starts_again_alone():
    watch = Watch(monitors())
    watch.observe([Row(True, 0.5, True, domain="a") for _ in range(60)] + [Row(True, 0.5, False, domain="b")] * 300)
    before = watch.monitors.groups.monitors["b"]
    assert {(alarm.name, alarm.group) for alarm in watch.acknowledge("2030-01-01")} >= {("risk", "a"), ("risk", None)}
    assert watch.monitors.groups.monitors["a"].risk.n == 0
    assert watch.monitors.groups.monitors["b"] == before
    assert not watch.standing


def test_classes_go_by_their_names():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=1500)
    outputs = Outputs(
        logits=rng.normal(size=(1500, 2)) + 3 * np.eye(2)[labels], labels=labels, class_names=["cat", "dog"]
    )
    selector = calibrate(outputs, Risk(0.1, per="class"))
    watch = Watch(DeploymentMonitor.of(selector, per="class"))
    watch.observe([Row(True, 3.0, False, prediction=name) for name in ("cat", "dog", "dog")])
    assert {name: group.risk.n for name, group in watch.monitors.groups.monitors.items()} == {"cat": 1, "dog": 2}


def test_drift_is_seen_in_the_group_alone_and_by_halves_of_any_stream():
    rng = np.random.default_rng(5)
    values = np.concatenate([rng.normal(size=600), rng.normal(size=400) - 1])
    whole = DriftMonitor(0.05).observe(values)
    pieces = DriftMonitor(0.05)
    for start, end in pairwise([0, 3, 150, 250, 251, 1000]):
        pieces = pieces.observe(values[start:end])
    assert pieces == whole
    assert whole.alarm
    reference = ScoreMonitor.from_calibration(values[:REFERENCE_ROWS]).observe(values[REFERENCE_ROWS:])
    assert whole.scores == reference


def test_of_two_alarms_of_a_group_the_table_shows_the_risk():
    calm = np.random.default_rng(0).random(REFERENCE_ROWS)
    moved = DriftMonitor(0.05).observe([*calm, *(calm + 5)])
    group = GroupMonitor(RiskMonitor(0.2, 0.05).observe([1] * 8), scores=moved)
    assert group.alarms == ("risk", "scores")
    assert group.scores.numbers()["evidence"] > group.risk.numbers()["evidence"]
    assert group.closest == "risk"
    assert GroupMonitor(RiskMonitor(0.2, 0.05), scores=moved).closest == "scores"


def test_the_table_is_short_however_many_groups_there_are():
    watch = Watch(monitors())
    watch.observe([Row(True, 0.5, k % 50 == 0, domain=f"g{k % 40}") for k in range(2000)])
    lines = str(watch).splitlines()
    assert len(lines) <= 15
    assert any("more groups" in line for line in lines)
    assert watch.metrics()["risk_n/g3"] == 50


def test_no_rule_without_correction_keeps_the_rate():
    """400 streams of 40 groups one after the other, each with just the risk guaranteed; the levels of groups matter."""
    rng = np.random.default_rng(31)
    false = naive = 0
    levels = GroupMonitors.of("group", 0.05, GroupMonitor())
    for _ in range(400):
        errors = rng.random((40, 150)) < 0.2
        highest = [RiskMonitor(0.2, 0.05).observe(group).excess for group in errors]
        false += any(each.reached(levels.level(j)) for j, each in enumerate(highest, start=1))
        naive += any(each.reached(0.05) for each in highest)
    assert false / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert naive / 400 > 0.15
