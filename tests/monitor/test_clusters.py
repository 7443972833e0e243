"""Monitors of selectors that were calibrated on clusters."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from abstain import Outputs, calibrate
from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, Row, ScoreMonitor, Watch
from abstain.monitor.clusters import ordered
from abstain.monitor.monitor import ClusterValues
from abstain.monitor.stream import StreamBatch

SIZES = {
    "equal": lambda _, n: np.full(n, 8),
    "one large in ten, which is sure": lambda rng, n: np.where(rng.random(n) < 0.1, 30, 1),
}


def drawn(rng, n, sizes, shift=0.0):
    """Clusters with alike confidences, and errors that they share: ids, confidence, errors."""
    size = SIZES[sizes](rng, n)
    base = rng.normal(size=n) + 1.5 * (size > 8) + shift
    ids = np.repeat(np.arange(n), size)
    wrong = rng.random(n) < 1 / (1 + np.exp(2 + 2 * base))
    return ids, base[ids] + 0.3 * rng.normal(size=len(ids)), wrong[ids]


def mixed(rng, ids, how):
    """An order of rows: cluster by cluster, shuffled, or the first rows of all, then the second ones, …."""
    if how == "shuffled":
        return rng.permutation(len(ids))
    numbers = np.arange(len(ids)) - np.searchsorted(ids, ids)
    return np.argsort(numbers, kind="stable") if how == "stacked" else np.arange(len(ids))


def watched(rng, sizes, how, *, shift=0.0, whole=None):
    """The monitor of a selector after clusters, its risk the true one; and one of the risk that counts rows."""
    ids, confidence, errors = drawn(rng, 250, sizes)
    outputs = Outputs(confidences={"vendor": confidence}, errors=errors, ids=ids)
    selector = calibrate(outputs, coverage=0.7, delta=0.2)
    of_all, values, wrong = whole
    accepted, weight = values > selector.threshold.value, 1 / np.bincount(of_all)[of_all]
    risk = float(np.average(wrong[accepted], weights=weight[accepted]))
    ids, confidence, errors = drawn(rng, 600, sizes, shift)
    order = mixed(rng, ids, how)
    ids, confidence, errors = ids[order], confidence[order], errors[order]
    accepted = confidence > selector.threshold.value
    monitor = DeploymentMonitor.of(selector, risk=risk)
    monitor = monitor.observe_accepted(accepted, ids=ids).observe_confidence(confidence, ids=ids)
    monitor = monitor.observe_errors(np.where(accepted, errors, np.nan), ids=ids)
    return monitor, RiskMonitor(risk, 0.05).observe(errors[accepted])


@pytest.mark.parametrize("how", ["by cluster", "shuffled", "stacked"])
@pytest.mark.parametrize("sizes", SIZES)
def test_clusters_as_in_calibration_raise_few_alarms(sizes, how):
    rng, runs = np.random.default_rng(0), 40
    whole = drawn(np.random.default_rng(1), 30_000, sizes)
    result = [watched(rng, sizes, how, whole=whole)[0].alarms for _ in range(runs)]
    for name in ("risk", "acceptance", "scores"):
        assert sum(name in alarms for alarms in result) / runs <= 0.05 + 3 * sqrt(0.05 * 0.95 / runs), name


def test_whether_an_id_repeats_in_calibration_does_not_decide_what_counts():
    """One cluster in 300 has 200 rows: two samples of 150 in three have none."""
    rng, alarms = np.random.default_rng(4), 0
    for _ in range(40):
        confidence = rng.normal(size=150)
        errors = rng.random(150) < 0.05
        selector = calibrate(Outputs(confidences={"vendor": confidence}, errors=errors, ids=np.arange(150)), risk=0.3)
        ids = np.repeat(np.arange(600), np.where(rng.random(600) < 1 / 300, 200, 1))
        confidence = rng.normal(size=600)[ids]
        accepted = confidence > selector.threshold.value
        monitor = DeploymentMonitor.of(selector).observe_accepted(accepted, ids=ids)
        monitor = monitor.observe_confidence(confidence, ids=ids)
        wrong = (rng.random(600) < np.where(np.bincount(ids) > 1, 0.9, 0.05))[ids]
        alarms += bool(monitor.observe_errors(np.where(accepted, wrong, np.nan), ids=ids).alarms)
    assert alarms / 40 <= 0.15 + 2 * sqrt(0.15 * 0.85 / 40)  # of three kinds


def test_rows_taken_for_independent_raise_many():
    rng, whole = np.random.default_rng(0), drawn(np.random.default_rng(1), 30_000, "equal")
    assert sum(watched(rng, "equal", "by cluster", whole=whole)[1].alarm for _ in range(15)) > 5


def test_clusters_that_change_are_noticed():
    rng = np.random.default_rng(2)
    whole = drawn(np.random.default_rng(1), 30_000, "equal")
    monitor, _ = watched(rng, "equal", "by cluster", shift=-1.2, whole=whole)
    assert monitor.alarms == ("acceptance", "scores")
    errors, ids = rng.random(400) < 0.3, np.repeat(np.arange(100), 4)
    assert not monitor.observe_errors(np.zeros(400), ids=ids).risk.alarm
    assert monitor.observe_errors(errors, ids=ids).risk.alarm


def outcome(monitor, name, rows, values):
    (result,) = monitor.outcomes(
        ClusterValues([name], np.array([rows]), np.array(values, dtype=float), np.array([len(values)]))
    )
    return result


def test_the_outcome_of_a_cluster_keeps_its_mean_and_stays_between_0_and_1():
    rows, once = RiskMonitor(0.1, 0.05, largest=4), RiskMonitor(0.1, 0.05, counting="clusters")
    assert outcome(rows, "a", 3, (1.0, 0.0)) == pytest.approx(0.1 + (1 - 0.2) / 4)
    assert outcome(once, "a", 3, (1.0, 0.0)) == pytest.approx(0.1 + (1 - 0.2) / 3)
    assert outcome(rows, "a", 4, (0.0,) * 4) == pytest.approx(0)
    assert outcome(rows, "a", 4, (1.0,) * 4) == pytest.approx(1)
    assert np.isnan(outcome(rows, "a", 5, (1.0,)))  # nothing is guaranteed of larger ones
    assert outcome(RiskMonitor(0.1, 0.05, largest=1), "a", 1, (1.0,)) == 1
    assert outcome(AcceptanceMonitor(0.5, 0.7, 0.05, clustered=True), "a", 3, (1.0, 0.0)) == 0.5


def test_bets_on_parts_of_events_win_nothing_on_average():
    """The expected capital after three outcomes whose mean is the bound, summed over all that can happen."""
    parts, chance = np.array([0.0, 0.1, 0.2, 0.6]), np.array([0.2, 0.3, 0.3, 0.2])
    monitor = RiskMonitor(float(chance @ parts), 0.05, largest=5)
    drawn = product(range(4), repeat=3)
    expected = sum(np.prod(chance[list(which)]) * monitor.observe(parts[list(which)]).evidence for which in drawn)
    assert expected == pytest.approx(1, rel=1e-12)


def test_a_drawn_row_is_each_row_alike_whatever_the_order():
    monitor = ScoreMonitor.from_calibration(np.arange(50.0), seed=3)
    drawn = [outcome(monitor, f"c{k}", 3, (2.0, 0.0, 1.0)) for k in range(3000)]
    assert drawn == [outcome(monitor, f"c{k}", 3, (0.0, 1.0, 2.0)) for k in range(3000)]
    assert np.bincount(np.array(drawn, dtype=int)) == pytest.approx(1000, abs=100)


def test_ids_are_needed_where_calibration_had_clusters():
    monitor = DeploymentMonitor(RiskMonitor(0.1, 0.05, largest=3))
    with pytest.raises(ValueError, match="`ids` must name the cluster of each row, since calibration had ids"):
        monitor.observe_errors([1, 0])
    with pytest.raises(ValueError, match=r"`ids` must have shape \(2,\)"):
        monitor.observe_errors([1, 0], ids=["a"])
    with pytest.raises(ValueError, match="`ids` must name every row, got an empty string for row 2"):
        monitor.observe_errors([1, 0], ids=["a", ""])
    with pytest.raises(ValueError, match="must all count rows, or all count clusters"):
        DeploymentMonitor(RiskMonitor(0.1, 0.05, largest=3), AcceptanceMonitor(0.5, 0.7, 0.05))


def test_clusters_keep_their_order_unless_their_rows_are_mixed():
    rank, names = ordered(np.arange(10), np.array([1, 1, 1, 1, 0, 2, 2, 2, 2, 2]), ["a", "b", "c"])
    assert (rank.tolist(), names) == ([0, 0, 0, 0, 1, 2, 2, 2, 2, 2], ["b", "a", "c"])
    nested, numbered = np.concatenate([np.arange(50), np.arange(50)[::-1]]), [str(k) for k in range(50)]
    rank, names = ordered(np.arange(100), nested, numbered)
    assert [names[k] for k in rank] == [numbered[k] for k in nested]
    assert sorted(names) == sorted(numbered)
    assert names not in (numbered, numbered[::-1])


def rows_of(ids, confidence, errors, threshold=0.0):
    columns = zip(ids, confidence, errors, strict=True)
    return [Row(bool(c > threshold), float(c), bool(e), id=str(name)) for name, c, e in columns]


def clustered_watch(**options):
    rng = np.random.default_rng(3)
    ids, confidence, errors = drawn(rng, 250, "equal")
    selector = calibrate(Outputs(confidences={"vendor": confidence}, errors=errors, ids=ids), coverage=0.7, delta=0.2)
    return (
        Watch(DeploymentMonitor.of(selector, risk=0.1), **options),
        drawn(rng, 200, "equal"),
        selector.threshold.value,
    )


def of_arrays(monitor, ids, confidence, errors, threshold):
    accepted = confidence > threshold
    monitor = monitor.observe_accepted(accepted, ids=ids).observe_confidence(confidence, ids=ids)
    return monitor.observe_errors(np.where(accepted, errors, np.nan), ids=ids)


def test_a_watch_counts_what_arrays_count_whatever_the_batches():
    watch, (ids, confidence, errors), threshold = clustered_watch()
    expected = of_arrays(watch.monitors, ids, confidence, errors, threshold)
    rows = rows_of(ids, confidence, errors, threshold)
    for size in (1, 7, 10_000):
        watch = clustered_watch()[0]
        for start in range(0, len(rows), size):
            watch.observe(rows[start : start + size])
            if size == 1:
                watch.close(last=False)
        watch.close()
        assert watch.monitors == expected
        assert Watch.from_json(watch.to_json()).to_json() == watch.to_json()


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_a_watch_and_arrays_draw_the_same_rows_of_mixed_clusters_in_the_same_order(kind):
    watch, data, threshold = clustered_watch()
    ids, confidence, errors = (column[np.random.default_rng(0).permutation(len(data[0]))] for column in data)
    expected = of_arrays(watch.monitors, ids.astype(kind), confidence, errors, threshold)
    columns = zip(ids.astype(kind).tolist(), confidence, confidence > threshold, errors, strict=True)
    names = ("id", "confidence", "accepted", "error")
    watch.observe(StreamBatch.of_rows([dict(zip(names, values, strict=True)) for values in columns]).read())
    watch.close()
    assert watch.monitors == expected


def test_a_row_without_an_id_is_a_cluster_of_its_own_whatever_ids_are_called():
    watch, _, threshold = clustered_watch()
    watch.observe(
        [Row(True, threshold + 1), *(Row(True, threshold + k, id=name) for k, name in enumerate(("row 1", "1")))]
    )
    watch.close()
    assert watch.monitors.scores.n == 3


def test_a_label_or_a_row_given_again_leaves_the_cluster_open_that_it_comes_between():
    watch, (ids, confidence, errors), threshold = clustered_watch()
    rows = rows_of(ids, confidence, errors, threshold)[:16]
    unlabelled = Row(True, threshold + 1, id="earlier")
    watch.observe([unlabelled])
    watch.close()
    whole = Watch.from_json(watch.to_json())
    between = [Row(error=False, id="earlier"), unlabelled, Row(True, threshold + 2, id="earlier")]
    for row in [*rows[:3], between[0], *rows[3:5], between[1], *rows[5:7], between[2], *rows[7:]]:
        watch.observe([row])
        watch.close(last=False)
    watch.close()
    whole.observe([between[0], *rows, *between[1:]])
    whole.close()
    assert (watch.late_rows, watch.skipped) == (1, 1)
    assert watch.monitors == whole.monitors


def test_late_rows_of_a_cluster_are_left_out_and_given_again_they_are_skipped():
    watch, (ids, confidence, errors), threshold = clustered_watch()
    rows = rows_of(ids, confidence, errors, threshold)
    watch.observe(rows[:12])  # one cluster and a half
    watch.close()
    before = watch.monitors
    watch.observe(rows[:16])
    watch.close()
    assert (watch.monitors, watch.late_rows, watch.skipped) == (before, 4, 12)


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_labels_of_a_cluster_may_come_later_and_the_second_of_two_equal_rows_has_the_second_label(order):
    watch, _, threshold = clustered_watch()
    high = threshold + 1
    rows = [Row(True, high, id="a"), Row(True, high, id="a"), Row(True, high + 1, id="a"), Row(False, -9.0, id="a")]
    watch.observe([*rows, Row(True, high, id="b")])
    watch.close()
    watch.observe([Row(True, high, True, id="b")])
    assert watch.monitors.risk.n == 0
    for _ in range(2):  # given again, labels are known
        watch.observe([Row(True, high, error, id="a") for error in order])
        watch.observe([Row(True, high + 1, False, id="a")])
        watch.close()
    risk = watch.monitors.risk
    outcomes = [outcome(risk, "", 4, (1.0, 0.0, 0.0)), outcome(risk, "", 1, (1.0,))]
    assert risk == risk.begun().observe(outcomes)
    assert watch.skipped == 3


def test_what_a_cluster_that_is_open_has_had_counts_when_it_comes_again():
    watch, (ids, confidence, errors), threshold = clustered_watch()
    rows = rows_of(ids, confidence, errors, threshold)
    whole = Watch.from_json(watch.to_json())
    for row in rows[:20]:
        watch.observe([row])
        watch.close(last=False)
    again = Watch.from_json(watch.to_json())  # as after an end without warning
    for each, given in ((again, rows), (whole, rows)):
        each.observe(given)
        each.close()
    assert again.monitors == whole.monitors
    assert (again.skipped, again.late_rows) == (16, 0)
