import json
import re
import sys
from math import inf, sqrt

import numpy as np
import pytest

from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, ScoreMonitor, memory
from abstain.monitor.history import Alarm, History
from abstain.monitor.monitor import first_alarm
from abstain.monitor.row import Row
from abstain.monitor.rule import Rule
from abstain.monitor.saved_watch import sealed
from abstain.monitor.stream import StreamBatch
from abstain.monitor.watch import Watch

NEW = DeploymentMonitor(
    RiskMonitor(risk=0.05, delta=0.05),
    AcceptanceMonitor.from_calibration(accepted=700, n=1000),
    ScoreMonitor.from_calibration(np.random.default_rng(0).normal(size=500)),
)


def stream(n=400, worse_from=150):
    """Decisions, every second with its label, that change at a row."""
    rng = np.random.default_rng(1)
    for k in range(n):
        worse = k >= worse_from
        confidence = float(rng.normal() - 0.8 * worse)
        accepted, error = bool(rng.random() < (0.4 if worse else 0.7)), bool(rng.random() < (0.4 if worse else 0.02))
        yield Row(accepted, confidence, error if k % 2 else None, id=str(k))


def in_batches(rows, size):
    watch, raised = Watch(NEW, label_window=20), []
    for start in range(0, len(rows), size):
        raised += watch.observe(rows[start : start + size])
        watch = Watch.from_json(watch.to_json()) if size > 1 else watch
    return watch, raised


def test_alarms_are_of_the_same_rows_however_rows_are_cut():
    rows = list(stream())
    whole, raised = in_batches(rows, 1000)
    assert {alarm.name for alarm in raised} == {"risk", "acceptance", "scores"}
    assert len({alarm.row for alarm in raised}) > 1
    assert raised == sorted(raised, key=lambda alarm: alarm.row)
    for size in (1, 7, 250):
        pieces, message = in_batches(rows, size)
        assert message == raised
        assert pieces.to_json() == whole.to_json()


def test_an_alarm_is_of_the_row_at_which_its_evidence_first_crosses():
    rows = list(stream())
    whole, before, after = (Watch(NEW, label_window=20) for _ in range(3))
    (alarm,) = (alarm for alarm in whole.observe(rows) if alarm.name == "risk")
    before.observe(rows[: alarm.row - 1])
    after.observe(rows[: alarm.row])
    assert (before.monitors.risk.alarm, after.monitors.risk.alarm) == (False, True)


def test_rows_are_numbered_over_all_inputs_and_an_alarm_is_raised_once():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    assert watch.observe([Row(error=False)] * 10) == []
    (alarm,) = watch.observe([Row(error=True)] * 20)
    assert 10 < alarm.row < 20
    assert watch.observe([Row(error=True)] * 20) == []
    assert watch.standing == (alarm,)


def test_an_acknowledged_alarm_is_history_and_its_monitor_alone_begins_anew():
    watch = Watch(NEW)
    watch.observe([Row(accepted=k % 10 < 7) for k in range(20)])
    watch.observe([Row(error=True, accepted=True)] * 20)
    (alarm,) = watch.acknowledge("2030-01-01T00:00:00+00:00")
    assert alarm.name == "risk"
    assert watch.standing == ()
    assert watch.alarms == (Alarm("risk", alarm.row, "2030-01-01T00:00:00+00:00", 40),)
    assert (watch.monitors.risk.n, watch.monitors.acceptance.n) == (0, 20)
    again = Watch.from_json(watch.to_json())
    assert again.observe([Row(error=True, accepted=True)] * 20)[0].row > 40
    assert len(again.alarms) == 2


def test_after_a_restart_false_alarms_are_as_rare_as_before_where_forgetting_the_stream_makes_them_frequent():
    """Of streams that do not change and raised a false alarm, how many raise another."""
    rng, delta, again = np.random.default_rng(4), 0.2, {"restarted": [], "begun": []}
    for _ in range(1000):
        start = ScoreMonitor.from_calibration(rng.normal(size=50), delta=delta)
        values, later = rng.normal(size=(2, 3000))
        if start.observe(values).alarm:
            alarmed = start.observe(values[: first_alarm(start, values) + 1])
            for how, result in again.items():
                result.append(getattr(alarmed, how)().observe(later).alarm)
    runs = len(again["restarted"])
    assert runs > 80
    assert np.mean(again["restarted"]) <= delta + 3 * sqrt(delta * (1 - delta) / runs)
    assert np.mean(again["begun"]) > delta + 3 * sqrt(delta * (1 - delta) / runs)


@pytest.mark.parametrize("name", NEW.parts)
def test_every_monitor_answers_alike(name):
    start = NEW.parts[name]
    rows = [(k % 2 > 0, k % 3 > 1, k / 10) for k in range(10)] * 40
    values = [float(row[["risk", "acceptance", "scores"].index(name)]) for row in rows]
    after = start.observe(values)
    assert after.alarm
    assert after.numbers()["alarm"] is True
    assert "ALARM" in after.words()
    assert after.begun() == start
    assert not after.restarted().alarm
    path = first_alarm(start, values)
    assert (start.observe(values[:path]).alarm, start.observe(values[: path + 1]).alarm) == (False, True)


def test_rows_given_twice_count_once():
    rows = list(stream(100))
    once, twice = Watch(NEW), Watch(NEW)
    once.observe(rows)
    for _ in range(2):
        twice.observe(rows)
        twice.close()
    assert twice.monitors == once.monitors
    assert (twice.skipped, twice.rows) == (100, 200)


def test_labels_beyond_the_accepted_are_refused_whatever_the_batches_and_leave_no_trace():
    rows = [Row(accepted=k % 2 > 0, id=f"a{k}") for k in range(20)] + [Row(error=True, id=f"b{k}") for k in range(11)]
    rows += [Row(accepted=True, id=f"c{k}") for k in range(10)]
    for taken, refused in ((rows[:30], rows[30:31]), ([], rows)):
        watch = Watch(NEW)
        watch.observe(taken)
        before = watch.to_json()
        with pytest.raises(ValueError, match="must have the column accepted if it has labels of rejected samples"):
            watch.observe(refused)
        assert watch.to_json() == before


def reported(errors, sooner):
    """Decisions, with those labels that are errors; right answers are reported some rows later."""
    for k in range(len(errors) + sooner):
        if k < len(errors):
            yield Row(True, float(k), True if errors[k] else None, id=str(k))
        if k >= sooner and not errors[k - sooner]:
            yield Row(error=False, id=str(k - sooner))


def test_errors_that_are_reported_sooner_raise_few_alarms_where_labels_counted_as_they_come_raise_many():
    """A risk of 0.02 where 0.05 was guaranteed."""
    rng, alarms, naive = np.random.default_rng(2), 0, 0
    for _ in range(40):
        start, rows = RiskMonitor(risk=0.05, delta=0.05), list(reported(rng.random(600) < 0.02, sooner=100))
        watch = Watch(DeploymentMonitor(start))
        watch.observe(rows)
        assert watch.monitors.risk.n == 600
        alarms += watch.monitors.risk.alarm
        naive += start.observe([row.error for row in rows if row.error is not None]).alarm
    assert alarms / 40 <= 0.05
    assert naive / 40 > 0.3


def test_labels_count_in_the_order_of_decisions_whatever_the_order_they_come_in():
    rng = np.random.default_rng(3)
    errors = rng.random(300) < 0.1
    start = DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05))
    decisions = [Row(True, float(k), id=str(k)) for k in range(300)]
    for order in (np.argsort(~errors, kind="stable"), rng.permutation(300)):
        watch = Watch(start)
        watch.observe(decisions)
        watch.observe([Row(error=bool(errors[k]), id=str(k)) for k in order])
        assert watch.monitors == start.observe_errors(errors)


def test_a_label_that_does_not_come_is_given_up_after_the_window():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)), label_window=5)
    watch.observe([Row(True, 0.0, id="a"), Row(False, 0.0, id="r")])
    watch.observe([Row(True, 0.0, False, id=f"b{k}") for k in range(4)])
    assert (watch.monitors.risk.n, watch.turns.waiting, watch.turns.pending) == (0, 4, 1)
    watch = Watch.from_json(watch.to_json())
    watch.observe([Row(True, 0.0, False, id="c"), Row(error=True, id="a"), Row(error=True, id="r")])
    assert (watch.monitors.risk.n, watch.monitors.risk.errors, watch.turns.late) == (5, 0, 1)


def test_labels_that_wait_when_an_alarm_is_acknowledged_are_given_up():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    watch.observe([Row(True, 0.0, True, id=f"a{k}") for k in range(30)])
    watch.observe([Row(True, 0.0, id="b"), Row(True, 0.0, True, id="c")])
    watch.acknowledge("2030-01-01T00:00:00+00:00")
    watch.observe([Row(error=True, id="b"), Row(True, 0.0, False, id="d")])
    assert (watch.monitors.risk.n, watch.monitors.risk.errors, watch.turns.late) == (1, 0, 1)


def test_a_state_of_another_version_is_refused_in_one_line():
    state = json.loads(Watch(NEW).to_json())
    for other in ({key: value for key, value in state.items() if key != "version"}, state | {"version": 5}):
        with pytest.raises(ValueError, match="of version 6, got one that another version of abstain wrote"):
            Watch.from_json(json.dumps(other))


def test_states_that_no_stream_leads_to_are_refused():
    watch = Watch(NEW)
    watch.observe(list(stream(50)))
    state = json.loads(watch.to_json())
    del state["sha256"]
    Watch.from_json(sealed(state))
    stranger = {"name": "x", "row": 1, "acknowledged": None, "acknowledged_row": None, "group": None}
    for key, value in (
        ("alarms", [stranger]),
        ("rows", -1),
        ("ids", [""]),
        ("ids", ["x", ""]),
        ("ids", ["AAAA", ""]),
        ("alarms", [1]),
        ("turns", [[1]]),
        ("turns", [[1, 2, 3, -1, 0]]),
        ("turns", [[1, 0, -1, -1, 0]]),
        ("turns", [[0, 0, 0, -1, 0, 5]]),
        ("turns", [[1, 1, 0, 0, 0]]),
        ("turns", [[1, 1, 0, -1, 1]]),
        ("recent", {"window": 2, "errors": "012", "accepted": ""}),
        ("label_window", -1),
        ("late_rows", -1),
    ):
        with pytest.raises(ValueError, match="must be the state of a"):
            Watch.from_json(sealed(state | {"history": state["history"] | {key: value}}))
    for text in ("", "[]", '{"history": 1}'):
        with pytest.raises(ValueError, match="must be the state of a"):
            Watch.from_json(text)


@pytest.mark.parametrize(
    ("part", "change", "message"),
    [
        ("history", {"rows": -1}, "`text` must be the state of a monitor, got an impossible history."),
        (
            "acceptance",
            {"delta": 0.0},
            "`text` must be the state of a DeploymentMonitor, got 0.0 where `delta` must be ",
        ),
        ("scores", {"n": 7}, "`text` must be the state of a DeploymentMonitor, got impossible numbers."),
        ("scores", {"n": "x"}, "`text` must be the state of a DeploymentMonitor, got 'x' where scores.n must be an "),
    ],
)
def test_a_state_that_is_refused_is_named_once(part, change, message):
    state = json.loads(Watch(NEW).to_json())
    del state["sha256"]
    state[part] |= change
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        Watch.from_json(sealed(state))


def test_an_edited_state_is_refused():
    state = Watch(NEW).to_json()
    with pytest.raises(ValueError, match="got contents that do not match their digest"):
        Watch.from_json(state.replace('"rows": 0', '"rows": 1'))


def in_every_line(watch, rows):
    """Interrupt `observe` at each line that it runs, as a signal may, and give its rows again."""
    for position in range(10_000):
        copy = Watch.from_json(watch.to_json())
        copy.observe([])
        left = position

        def interrupted(frame, event, _):
            nonlocal left
            if "abstain" not in frame.f_code.co_filename:
                return None
            if event == "line":
                left -= 1
                if left < 0:
                    raise KeyboardInterrupt
            return interrupted

        sys.settrace(interrupted)
        try:
            copy.observe(rows)
        except KeyboardInterrupt:
            sys.settrace(None)
            yield copy
            continue
        finally:
            sys.settrace(None)
        assert position > 50
        return


def test_a_row_counts_once_wherever_the_step_that_takes_it_is_interrupted():
    rows = [
        Row(True, 0.5, id="a"),
        Row(True, 0.7, True, id="b"),
        Row(True, 0.5, False, id="a"),
        Row(False, -1.0, id="c"),
    ]
    watch, whole = Watch(NEW), Watch(NEW)
    watch.observe(list(stream(30)))
    whole.observe(list(stream(30)))
    whole.observe(rows)
    for copy in in_every_line(watch, rows):
        after = Watch.from_json(copy.to_json())
        for each in (after, copy):
            each.close()
            each.observe(rows)
            assert each.monitors == whole.monitors
            assert each.turns == whole.turns


def test_equal_rows_of_one_input_are_decisions_of_their_own_and_known_again_in_the_next():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    decision = Row(True, 0.5, id="a")
    for _ in range(2):
        watch.observe([decision, decision])
        watch.close()
    assert watch.turns.pending == 2
    for _ in range(2):
        watch.observe([Row(error=False, id="a"), Row(error=True, id="a")])
        watch.close()
    assert (watch.monitors.risk.n, watch.monitors.risk.errors, watch.skipped) == (2, 1, 4)


TOLD_LATER = {
    "confidence": [[Row(True, id="a"), Row(True, 0.7, id="a")], [Row(True, 0.5, id="a")]],
    "verdict": [[Row(None, 0.5, id="a"), Row(True, 0.5, id="a")], [Row(False, 0.5, id="a")]],
    "a second decision": [[Row(error=True, id="a"), Row(True, 0.5, id="a"), Row(True, 0.7, id="a")]],
    "a second decision in another input": [[Row(True, 0.5, id="a"), Row(error=True, id="a")], [Row(True, 0.7, id="a")]],
    "an equal decision": [[Row(error=True, id="a"), Row(error=True, id="a"), *[Row(True, 0.5, id="a")] * 2]],
}
"""What an id had is not all that it has in the end."""


@pytest.mark.parametrize("what", TOLD_LATER)
def test_an_input_that_was_taken_changes_nothing_when_it_is_given_again_whatever_came_after(what):
    watch, inputs = Watch(NEW), TOLD_LATER[what]
    for rows in inputs:
        watch.observe(rows)
        watch.close()
    before = (watch.monitors, watch.turns)
    for rows in (*inputs, *reversed(inputs)):
        watch.observe(rows)
        watch.close()
        watch = Watch.from_json(watch.to_json())
        assert (watch.monitors, watch.turns) == before


def test_a_label_alone_is_refused_where_it_may_be_of_several_decisions_and_has_not_come_before():
    for ends, rows in (
        (True, [Row(True, 0.5, id="a"), Row(True, 0.7, id="a")]),
        (True, [Row(True, 0.5, True, id="a"), Row(True, 0.7, id="a")]),  # this label did not come alone
        (False, [Row(error=True, id="a"), Row(True, 0.5, id="a"), Row(True, 0.7, id="a")]),  # and here it is the second
    ):
        watch = Watch(NEW)
        watch.observe(rows)
        if ends:
            watch.close()
        before = watch.to_json()
        with pytest.raises(
            ValueError, match="`id` must name a single decision if its label comes without the confidence"
        ):
            watch.observe([Row(error=True, id="a")])
        assert watch.to_json() == before


def test_a_label_that_was_given_twice_does_not_take_the_label_of_the_next_decision():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    decision, label = Row(True, 0.5, id="a"), Row(error=True, id="a")
    for _ in range(2):
        watch.observe([decision, label, label, decision, label])
        watch.close()
    assert (watch.monitors.risk.n, watch.turns.pending, watch.skipped) == (2, 0, 6)


@pytest.mark.parametrize("confidence", [None, 0.9])
def test_a_label_that_differs_from_the_one_known_is_that_of_the_next_equal_decision(confidence):
    decisions = [Row(True, 0.9, id="a"), Row(True, 0.9, id="a"), Row(True, 0.8, id="b")]
    labels = [Row(None, confidence, error, "a") for error in (False, True)] + [Row(error=True, id="b")]
    inputs = [decisions, *([label] for label in labels)]
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    for rows in inputs:
        watch.observe(rows)
        watch.close()
        watch = Watch.from_json(watch.to_json())
    assert (watch.monitors.risk.n, watch.monitors.risk.errors) == (3, 2)
    for rows in [[Row(True, 0.9, id="a")] * 3, *inputs[::-1]]:
        watch.observe(rows)
        watch.close()
    assert (watch.monitors.risk.n, watch.turns.pending) == (3, 1)  # the third decision has no label


def test_a_label_that_differed_when_there_was_no_next_decision_is_left_out_for_good():
    watch, label = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05))), [Row(error=True, id="a")]
    for rows in ([Row(True, 0.9, False, "a")], label, [Row(True, 0.9, id="a")] * 2, label):
        watch.observe(rows)
        watch.close()
    assert (watch.monitors.risk.n, watch.turns.pending) == (1, 1)


def test_a_verdict_that_is_told_later_counts_for_the_label():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    for row in (Row(confidence=0.5, id="a"), Row(accepted=False, id="a"), Row(error=True, id="a")):
        watch.observe([row])
        watch.close()
    assert watch.turns.pending == 1
    assert watch.monitors.risk.n == 0


def test_ids_as_pandas_writes_them_are_the_same_ids():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    watch.observe(StreamBatch.of_rows([{"id": "7", "confidence": "0.5", "accepted": "1"}]).read())
    watch.close()
    watch.observe(StreamBatch.of_rows([{"id": "7.0", "confidence": 0.5, "accepted": True}]).read())
    watch.observe([Row(error=True, id="7.0")])
    watch.close()
    watch.observe(StreamBatch.of_rows([{"id": 7, "error": 1}]).read())
    assert (watch.monitors.risk.n, watch.skipped) == (1, 2)


def test_memory_is_bounded_and_what_was_forgotten_is_told(monkeypatch):
    monkeypatch.setattr(memory, "REMEMBERED", 100)
    rows = [Row(confidence=0.5, id=str(k)) for k in range(250)]
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)))
    for row in rows:
        watch.observe([row])
    assert watch.forgotten == 100
    watch.close()
    for row in rows[100:]:  # seen again, they push nothing out
        watch.observe([row])
    assert (watch.skipped, watch.forgotten) == (150, 100)
    assert len("".join(watch._state.memory.to_texts())) <= 19 * 150 + 8
    watch.close()
    watch.observe(rows[:100])
    assert watch.skipped == 150


def test_the_order_of_labels_that_wait_survives_room_for_more():
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)), label_window=5000)
    for start in range(0, 3000, 100):
        watch.observe([Row(True, 0.5, id=str(k)) for k in range(start, start + 100)])
    watch.observe([Row(error=k % 10 == 0, id=str(k)) for k in reversed(range(3000))])
    assert (watch.monitors.risk.n, watch.monitors.risk.errors, watch.turns.late) == (3000, 300, 0)


def test_an_alarm_of_a_state_without_history_stands():
    alarmed = DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05).update(errors=30, n=60))
    assert Watch.from_json(alarmed.to_json()).standing == (Alarm("risk", 0),)


def test_the_rule_that_decides_is_kept_with_the_state():
    for rule in (
        Rule(0.5, None, {}, ()),
        Rule(inf, "class", {"0": 0.5, "1": inf}, ("cat", "dog")),
        Rule(inf, "town", {"x": 0.5}, ()),
        None,
    ):
        assert Watch.from_json(Watch(NEW, rule=rule).to_json()).rule == rule
    state = json.loads(Watch(NEW, rule=Rule(0.5, None, {}, ())).to_json())
    del state["sha256"]
    text = sealed(state | {"rule": state["rule"] | {"per": 7}})
    with pytest.raises(ValueError, match="must be the state of a monitor, got '7' where per must be"):
        Watch.from_json(text)


def test_a_state_with_counts_beyond_any_stream_is_refused():
    with pytest.raises(ValueError, match="got an impossible history"):
        History(label_window=1 << 64)


def test_metrics_are_a_flat_dict_of_numbers():
    monitors = DeploymentMonitor(
        RiskMonitor(0.05, 0.05), AcceptanceMonitor(0.6, 0.7, 0.05), ScoreMonitor.from_calibration(np.arange(100.0))
    )
    watch = Watch(monitors)
    watch.observe([Row(accepted=True, confidence=50.0, id=str(k)) for k in range(40)])
    watch.observe([Row(error=True, id=str(k)) for k in (*range(12), 20)])
    metrics = watch.metrics()
    assert all(type(value) is float for value in metrics.values())
    assert metrics["risk_n"] == metrics["risk_errors"] == 12
    assert metrics["risk_alarm"] == 1 == metrics["alarms"] - metrics["acceptance_alarm"] - metrics["scores_alarm"]
    assert metrics["risk_evidence"] == monitors.risk.observe([1] * 12).evidence > metrics["risk_alarm_at"] == 20
    assert metrics["acceptance_evidence"] == monitors.acceptance.observe([1] * 40).evidence
    assert (metrics["rows"], metrics["accepted"], metrics["labels"]) == (53, 40, 13)
    assert (metrics["labels_waiting"], metrics["labels_pending"], metrics["labels_late"]) == (1, 27, 0)
