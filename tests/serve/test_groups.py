"""Groups of requests: what names them, and the monitors of each."""

import json
from dataclasses import replace

import numpy as np
import onnx
import pytest

from abstain import Outputs, Risk, calibrate
from abstain.collect import OnnxModel
from abstain.errors import InvalidInputError
from abstain.monitor import Watch
from abstain.serve import Predictor, Service
from abstain.serve.service import Storage
from abstain.serve.watcher import started_watch


@pytest.fixture(scope="module")
def per_group(classifier):
    """A selector with a threshold for each hospital."""
    hospital = np.where(np.arange(2000) % 2, "north", "south")
    outputs = Outputs(logits=classifier.outputs.logits, labels=classifier.outputs.labels, domain=hospital)
    selector = calibrate(outputs, Risk(0.1, per="domain"))
    return replace(selector, groups=replace(selector.groups, per="hospital"))


def label(service, outputs, is_error):
    ids = [name for name, accepted in zip(outputs["id"], outputs["accepted"], strict=True) if accepted]
    labels = [{"id": name, "error": is_error(k)} for k, name in enumerate(ids)]
    assert service.get("/v2/models/net/labels", json.dumps({"labels": labels}).encode())[0] == 200
    return len(ids)


def test_each_group_is_monitored_and_the_log_gives_the_same_to_monitor(start, classifier, tmp_path):
    log, state = tmp_path / "d.jsonl", tmp_path / "w.json"
    service = start("--log", log, "--state", state, "--per", "region")
    counts = {}
    for region, first, every in (("west", 0, 2), ("east", 100, 50)):
        outputs = service.infer(classifier.inputs[first : first + 100], id=region, parameters={"region": region})
        counts[region] = label(service, outputs, lambda k, every=every: k % every == 0)
    assert service.stop() == ""
    watch = Watch.from_json(state.read_text())
    assert {name: group.risk.n for name, group in watch.monitors.groups.monitors.items()} == counts
    assert ("risk", "west") in {(alarm.name, alarm.group) for alarm in watch.alarms}
    assert watch.group_column == "region"


def test_a_selector_with_a_threshold_for_each_group_is_monitored_by_group(classifier, per_group, tmp_path):
    watch = started_watch(per_group, None, 0)
    assert watch.monitors.groups.per == "hospital"
    assert set(watch.monitors.groups.monitors) == {"north", "south"}
    assert started_watch(per_group, None, 0, per="class").monitors.groups.per == "class"
    with pytest.raises(InvalidInputError, match="`--per` must be class, or hospital as in the selector, got region"):
        started_watch(per_group, None, 0, per="region")
    predictor = Predictor(classifier.model, per_group)
    storage = Storage(log=tmp_path / "d.jsonl", state=tmp_path / "w.json")
    Service(predictor, name="net", storage=storage)._files.close()
    assert Watch.from_json((tmp_path / "w.json").read_text()).monitors.groups.per == "hospital"


def test_the_input_has_the_name_that_is_asked_for(classifier, per_group):
    rows = {"x": classifier.inputs[:2]}
    predictor = Predictor(classifier.model, per_group, per="hospital")
    assert [info.name for info in predictor.extras] == ["id", "hospital"]
    with pytest.raises(InvalidInputError, match="`inputs` must have hospital, since each group has its own threshold"):
        predictor.check(rows)
    named = rows | {"hospital": np.array(["north", "south"], dtype=object)}
    predictor.check(named)
    assert predictor.decide(named).columns["group"] == ["north", "south"]


def test_a_parameter_of_the_request_is_the_group_of_all_its_rows(classifier, per_group):
    predictor = Predictor(classifier.model, per_group)
    inputs = {"x": classifier.inputs[:2]}
    predictor.add_group(inputs, {"group": "south", "priority": 3})
    predictor.check(inputs)
    assert predictor.decide(inputs).columns["group"] == ["south", "south"]
    predictor.add_group(inputs, {"group": "north"})  # an input has been given
    assert predictor.decide(inputs).columns["group"] == ["south", "south"]
    with pytest.raises(InvalidInputError, match="`group` of `parameters` must be a string, got 3"):
        predictor.add_group({"x": classifier.inputs[:2]}, {"group": 3})


def test_an_input_of_the_graph_can_name_the_groups(tmp_path, classifier):
    graph = onnx.load(classifier.model)
    graph.graph.input.append(onnx.helper.make_tensor_value_info("ward", onnx.TensorProto.INT64, ["n", 1]))
    graph.graph.node.append(onnx.helper.make_node("Cast", ["ward"], ["unused"], to=onnx.TensorProto.FLOAT))
    onnx.save(graph, tmp_path / "net.onnx")
    inputs = {"x": classifier.inputs[:2], "ward": np.array([[7], [8]])}
    assert OnnxModel(tmp_path / "net.onnx").run(inputs)[0].shape == (2, 5)
    predictor = Predictor(tmp_path / "net.onnx", classifier.selector, per="ward")
    assert [info.name for info in predictor.extras] == ["id"]
    assert predictor.decide(inputs).columns["group"] == ["7", "8"]
    assert "group" not in Predictor(tmp_path / "net.onnx", classifier.selector).decide(inputs).columns
