"""What a service leaves on disk, after a signal and after a crash."""

import asyncio
import http.client
import json
import random
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from abstain import calibrate
from abstain.decision_log import DecisionLog, read_log
from abstain.decision_log.table import log_records
from abstain.errors import InvalidInputError, RequestError
from abstain.monitor import DeploymentMonitor, Watch
from abstain.serve import Predictor, Service
from abstain.serve.labels import read_labels
from abstain.serve.service import Storage
from abstain.serve.watcher import Watcher
from abstain.telemetry import Measurements


def test_what_was_acknowledged_before_a_kill_is_counted_once_after_a_restart(start, classifier, tmp_path):
    log, state = tmp_path / "d.jsonl", tmp_path / "w.json"
    options = ("--log", log, "--state", state, "--log-bytes", 40_000)
    acknowledged, sent, stopping = {}, set(), threading.Event()
    running = [start(*options)]

    def client(number):
        rng = random.Random(number)
        k = 0
        while not stopping.is_set():
            n, name = rng.choice([1, 1, 5]), f"c{number}-{k}"
            ids = [name] if n == 1 else [f"{name}-{row}" for row in range(n)]
            sent.update(ids)
            try:
                outputs = running[0].infer(classifier.inputs[k : k + n], id=name)
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)
                continue  # the same request again, as a client would
            acknowledged.update(zip(outputs["id"], outputs["accepted"], strict=True))
            k += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while len(acknowledged) < 200:
        stopping.wait(0.05)
    running[0].kill()
    running[0] = start(*options)
    stopping.wait(0.5)
    stopping.set()
    for thread in threads:
        thread.join()
    assert running[0].stop() == ""
    table = read_log(log)
    assert table["sequence"] == list(range(1, len(table["id"]) + 1))
    logged = dict(zip(table["id"], table["accepted"], strict=True))
    assert len(logged) == len(table["id"])  # none twice
    assert acknowledged.items() <= logged.items()  # none lost
    assert logged.keys() <= sent
    assert len(acknowledged) > 200
    watch = Watch.from_json(state.read_text())
    assert watch.position == len(table["id"])
    assert watch.monitors.acceptance.n == len(logged)
    assert watch.monitors.acceptance.accepted == sum(logged.values())


def test_labels_reach_the_monitor_of_the_risk_and_the_log(start, classifier, tmp_path):
    log, state = tmp_path / "d.jsonl", tmp_path / "w.json"
    service = start("--log", log, "--state", state)
    outputs = service.infer(classifier.inputs[:200], id="r")
    accepted = [name for name, taken in zip(outputs["id"], outputs["accepted"], strict=True) if taken]
    labels = {"labels": [{"id": name, "error": k % 4 == 0} for k, name in enumerate(accepted)]}
    assert service.get("/v2/models/net/labels", json.dumps(labels).encode())[0] == 200
    assert service.get("/v2/models/net/labels", b'{"labels": [{"id": 1, "error": true}]}')[0] == 400
    assert service.get("/v2/models/net/labels", b"[" * 10_000)[0] == 400
    assert service.stop() == ""
    watch = Watch.from_json(state.read_text())
    assert watch.monitors.risk.n == len(accepted)
    assert watch.monitors.risk.errors == len(labels["labels"][::4])
    assert sum(map(bool, read_log(log)["error"])) == len(labels["labels"][::4])


def test_of_an_audit_only_the_labels_it_asked_for_count(classifier, tmp_path):
    with DecisionLog(tmp_path / "d.jsonl", selector="1f3a") as log:
        names = {"id": ["drawn", "not drawn"], "accepted": [True, True], "confidence": [9.0, 9.0]}
        log.append(names | {"review": ["audit", ""]})
        body = {"labels": [{"id": "drawn", "error": False}, {"id": "not drawn", "error": True}]}
        labels = read_labels(json.dumps(body).encode(), log, audit=True)
        log.append(labels)
        log.sync()
    watcher = Watcher(Watch(DeploymentMonitor.of(classifier.selector)), Measurements(classifier.selector))
    watcher.count(log_records(tmp_path / "d.jsonl"))
    assert (watcher.watch.monitors.risk.n, watcher.watch.monitors.risk.errors) == (1, 0)


def test_an_audited_label_counts_once_the_label_window_has_passed(start, classifier, tmp_path):
    options = ("--log", tmp_path / "d.jsonl", "--state", tmp_path / "w.json", "--audit", 0.5, "--label-window", 30)
    service = start(*options)
    outputs = service.infer(classifier.inputs[:30], id="r")
    drawn = [name for name, review in zip(outputs["id"], outputs["review"], strict=True) if review == "audit"]
    labels = json.dumps({"labels": [{"id": name, "error": False} for name in drawn]}).encode()
    assert service.get("/v2/models/net/labels", labels)[0] == 200
    assert sum(service.infer(classifier.inputs[100:200])["accepted"]) > 30
    assert service.stop() == ""
    assert Watch.from_json((tmp_path / "w.json").read_text()).monitors.risk.n == len(drawn) > 0
    with pytest.raises(RuntimeError, match="`--label-window` must be that of the state, 30, got 40"):
        start(*options[:-1], 40)


def test_a_state_belongs_to_a_log_and_a_selector(classifier, tmp_path):
    log, state = tmp_path / "d.jsonl", tmp_path / "w.json"
    with pytest.raises(InvalidInputError, match="`--state` must come with --log"):
        Storage(state=state)
    predictor = Predictor(classifier.model, classifier.selector)
    Service(predictor, name="net", storage=Storage(log=log, state=state))._files.close()
    other = Predictor(classifier.model, calibrate(classifier.outputs, risk=0.2))
    with pytest.raises(InvalidInputError, match="`--state` must belong to this selector"):
        Service(other, name="net", storage=Storage(log=log, state=state))
    watch = Watch.from_json(state.read_text())
    watch.position = 3
    state.write_text(watch.to_json())
    with pytest.raises(InvalidInputError, match="`--state` must not be ahead of the log"):
        Service(predictor, name="net", storage=Storage(log=log, state=state))


def test_a_label_of_several_decisions_is_refused(tmp_path):
    with DecisionLog(tmp_path / "d.jsonl", selector="1f3a") as log:
        log.append({"id": ["a", "a"], "accepted": [True, True], "confidence": [9.0, 8.0]})
        with pytest.raises(InvalidInputError, match="must name one decision"):
            read_labels(b'{"labels": [{"id": "a", "error": false}]}', log)


@pytest.mark.parametrize("name", ["\ud800", "a\nb", " ", "a" * 501], ids=["surrogate", "newline", "blank", "long"])
def test_a_label_whose_id_no_decision_can_have_is_refused(name):
    body = json.dumps({"labels": [{"id": name, "error": True}]}).encode()
    with pytest.raises(InvalidInputError, match="`id` must be printable, of 1 to 500 characters"):
        read_labels(body, None)


def test_a_state_that_cannot_be_saved_stops_no_monitor_and_is_reported_at_the_end(classifier, tmp_path):
    (folder := tmp_path / "states").mkdir()
    watch = Watch(DeploymentMonitor.of(classifier.selector))
    watcher = Watcher(watch, Measurements(classifier.selector), state=folder / "w.json")
    watcher._pause = 0.0
    watcher.start()
    folder.rmdir()
    for number in (1, 2):
        watcher.add([{"sequence": number, "id": f"a{number}", "accepted": True, "confidence": 9.0}])
        until = time.monotonic() + 5
        while watch.position < number and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.1)
    assert "must be in a folder that exists" in str(watcher.stop())
    assert watch.position == 2


def test_a_state_that_cannot_be_saved_at_the_end_is_an_error(start, tmp_path):
    (folder := tmp_path / "states").mkdir()
    service = start("--log", tmp_path / "d.jsonl", "--state", folder / "w.json")
    shutil.rmtree(folder)
    errors = service.stop()
    assert service.process.returncode == 1
    assert errors == f"abstain: `{folder}/w.json` must be in a folder that exists, got none. Make {folder} first.\n"


def in_a_loop(coroutine):
    """In a thread of its own, as Playwright leaves a running loop in that of the tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def test_a_row_that_cannot_be_written_is_refused_and_the_next_one_is_not(classifier, tmp_path):
    async def record(service, *values):
        results = []
        for k, value in enumerate(values):
            columns = {"id": [f"a{k}"], "confidence": [value], "accepted": [True]}
            try:
                results.append(await service.recorder.record(columns, may_repeat=True))
            except RequestError as error:
                results.append(error.status)
        return results

    predictor = Predictor(classifier.model, classifier.selector)
    service = Service(predictor, name="net", storage=Storage(log=tmp_path / "d.jsonl"))
    service.start()
    assert in_a_loop(record(service, 1.0, object(), 2.0)) == [None, 503, None]
    assert service.is_ready
    (tmp_path / "d.jsonl").unlink()
    assert in_a_loop(record(service, 3.0)) == [503]
    assert not service.is_ready
    service.stop()


def test_a_monitor_that_fails_is_not_ready_and_the_next_start_counts_what_it_left_out(
    classifier, tmp_path, monkeypatch
):
    storage = Storage(log=tmp_path / "d.jsonl", state=tmp_path / "w.json")
    predictor = Predictor(classifier.model, classifier.selector)
    service = Service(predictor, name="net", storage=storage)
    service.start()
    assert service.is_ready
    monkeypatch.setattr(Watch, "observe", lambda *_: 1 / 0)
    columns = {"id": ["a", "b"], "confidence": [9.0, 9.0], "accepted": [True, True]}
    in_a_loop(service.recorder.record(columns, may_repeat=False))
    until = time.monotonic() + 10
    while service.is_ready and time.monotonic() < until:
        time.sleep(0.01)
    assert not service.is_ready
    service.stop()
    assert isinstance(service.unsaved, ZeroDivisionError)
    monkeypatch.undo()
    again = Service(predictor, name="net", storage=storage)
    assert again.watcher.watch.monitors.acceptance.n == 2
    again._files.close()


def test_rows_that_wait_are_counted_by_both_threads(classifier):
    class Slow(list):
        def __len__(self):
            if threading.current_thread() is threading.main_thread():
                time.sleep(0.02)  # between reading the count and writing it
            return super().__len__()

    watcher = Watcher(Watch(DeploymentMonitor.of(classifier.selector)), Measurements(classifier.selector))
    watcher.start()
    for number in range(1, 30):
        watcher.add(Slow([{"sequence": number, "id": f"a{number}", "accepted": True, "confidence": 9.0}]))
    watcher.stop()
    assert watcher._waiting == 0
