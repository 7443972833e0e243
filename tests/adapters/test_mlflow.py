"""Models and results logged to a local store of MLflow, loaded and served as its users do."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import abstain
from abstain.errors import InvalidInputError

mlflow = pytest.importorskip("mlflow")

pytestmark = pytest.mark.filterwarnings("ignore")  # of MLflow and SQLAlchemy
COLUMNS = ["prediction", "confidence", "accepted", "reason"]


@pytest.fixture(scope="module")
def tracking(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("test", artifact_location=str(folder / "artefacts"))
    mlflow.set_experiment("test")
    yield
    mlflow.set_tracking_uri(None)


@pytest.fixture(autouse=True)
def store(tracking, monkeypatch):  # noqa: ARG001
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    with mlflow.start_run() as run:
        yield run


@pytest.fixture(scope="module")
def images():
    data = load_digits()
    return data.data / 16, data.target


@pytest.fixture(scope="module")
def estimator(images):
    x, y = images
    return LogisticRegression(max_iter=500).fit(x[:600], y[:600])


@pytest.fixture(scope="module")
def selector(images, estimator):
    x, y = images
    outputs = abstain.Outputs(
        logits=estimator.decision_function(x[600:1200]),
        labels=y[600:1200],
        class_names=[f"digit {k}" for k in range(10)],
    )
    return abstain.calibrate(outputs, score="confidence_margin", risk=0.05)


def expected(selector, estimator, x):
    return selector.decide(abstain.Outputs(logits=estimator.decision_function(x)))


def test_an_estimator_decides_as_the_selector_does(images, estimator, selector):
    x, _ = images
    info = abstain.mlflow.log_model(estimator, selector)
    decided = mlflow.pyfunc.load_model(info.model_uri).predict(x[1200:])
    assert list(decided) == COLUMNS
    reference = expected(selector, estimator, x[1200:])
    assert np.allclose(decided["confidence"], reference["confidence"], rtol=1e-12)  # BLAS sums by the array's layout
    for name in ("prediction", "accepted", "reason"):
        assert np.array_equal(decided[name], reference[name])
    assert 0 < decided["accepted"].mean() < 1


def test_a_graph_decides_as_the_selector_does(tmp_path, images, estimator, selector):
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.DOUBLE
    constants = [
        onnx.numpy_helper.from_array(estimator.coef_.T, "w"),
        onnx.numpy_helper.from_array(estimator.intercept_, "b"),
    ]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Add", ["m", "b"], ["z"])]
    ends = [helper.make_tensor_value_info(name, kind, ["n", size]) for name, size in (("x", 64), ("z", 10))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, tmp_path / "model.onnx")
    x, _ = images
    info = abstain.mlflow.log_model(tmp_path / "model.onnx", selector)
    decided = mlflow.pyfunc.load_model(info.model_uri).predict(x[1200:])
    wanted = expected(selector, estimator, x[1200:])
    assert np.array_equal(decided["accepted"], wanted["accepted"])
    assert np.array_equal(decided["prediction"], wanted["prediction"])


def test_signature_requirements_and_guarantee_are_logged_and_nothing_is_pickled(estimator, selector):
    info = abstain.mlflow.log_model(estimator, selector)
    assert [spec.name for spec in info.signature.outputs] == COLUMNS
    assert info.signature.inputs.inputs[0].shape == (-1, 64)
    assert "at most 0.05" in info.metadata["guarantee"]
    folder = mlflow.artifacts.download_artifacts(info.model_uri)
    files = [name for _, _, names in os.walk(folder) for name in names]
    assert {"model.skops", "selector.abstain", "requirements.txt"} <= set(files)
    assert not [name for name in files if name.endswith((".pkl", ".pickle", ".joblib"))]
    with open(f"{folder}/requirements.txt") as file:
        assert f"abstain[mlflow,sklearn]=={abstain.__version__}" in file.read()


def test_a_frame_is_taken_by_the_names_of_its_columns(images, selector):
    x, y = images
    frame = pandas.DataFrame(x, columns=[f"pixel {k}" for k in range(64)])
    estimator = LogisticRegression(max_iter=500).fit(frame[:600], y[:600])
    model = mlflow.pyfunc.load_model(abstain.mlflow.log_model(estimator, selector).model_uri)
    assert np.array_equal(model.predict(frame[1200:]), model.predict(frame[1200:][frame.columns[::-1]]))


def test_what_could_not_decide_is_refused_before_it_is_logged(estimator):
    given = abstain.Outputs(confidences={"judge": np.arange(400.0)}, errors=np.arange(400) < 5)
    with pytest.raises(InvalidInputError, match="must be of a score of the logits or features, got 'judge'"):
        abstain.mlflow.log_model(estimator, abstain.calibrate(given, score="judge", risk=0.1), name="judged")
    assert "judged" not in {model.name for model in mlflow.search_logged_models(output_format="list")}


def test_groups_with_thresholds_of_their_own_are_a_parameter(images, estimator):
    x, y = images
    logits, site = estimator.decision_function(x[600:1200]), np.where(np.arange(600) % 3, "north", "south")
    selector = abstain.calibrate(
        abstain.Outputs(logits=logits, labels=y[600:1200], domain=site), abstain.Risk(0.1, per="domain")
    )
    model = mlflow.pyfunc.load_model(abstain.mlflow.log_model(estimator, selector).model_uri)
    rows, logits = x[1200:1500], estimator.decision_function(x[1200:1500])
    for names in (["south", "north", "west"] * 100, ["south"]):
        decided = model.predict(rows, params={"group": names})
        wanted = selector.decide(abstain.Outputs(logits=logits, domain=(names * 300)[:300]))
        assert np.array_equal(decided["accepted"], wanted["accepted"])
        assert np.array_equal(decided["reason"], wanted["reason"])
    with pytest.raises(InvalidInputError, match="`params` must have `group`, one for each of 300 rows or one for all"):
        model.predict(rows)


def test_a_model_with_other_classes_is_refused_before_it_is_logged(estimator, images):
    x, y = images
    few = abstain.Outputs(logits=estimator.decision_function(x[600:1200])[:, :8], labels=np.minimum(y[600:1200], 7))
    with pytest.raises(InvalidInputError, match="`model` must have 8 classes, as in calibration, got 10"):
        abstain.mlflow.log_model(estimator, abstain.calibrate(few, risk=0.5))


def test_results_are_metrics_and_artefacts(store, digits):
    evaluation = abstain.evaluate(digits, scores=["max_softmax", "knn(k=5)"])
    abstain.mlflow.log_evaluation(evaluation)
    run = mlflow.get_run(store.info.run_id)
    row = evaluation.row("max_softmax", "in+cov", 1.0)
    assert run.data.metrics["aurc/in-cov/1/max_softmax"] == pytest.approx(row.aurc)
    assert "aurc/all/0.5/knn-k-5-" in run.data.metrics
    logged = json.loads(mlflow.artifacts.load_text(f"{run.info.artifact_uri}/abstain/evaluation.json"))
    assert logged["n"] == evaluation.n
    assert "<html" in mlflow.artifacts.load_text(f"{run.info.artifact_uri}/abstain/evaluation.html")


def test_a_certificate_is_logged_with_its_verdict(store, digits):
    held_out, fresh = digits[digits.shift == "none"].split(0.7, seed=1)
    selector = abstain.calibrate(held_out, score="confidence_margin", risk=0.05)
    certificate = abstain.certify(selector, fresh)
    abstain.mlflow.log_certificate(certificate)
    run = mlflow.get_run(store.info.run_id)
    assert run.data.tags["abstain.verdict"] == certificate.verdict
    text = mlflow.artifacts.load_text(f"{run.info.artifact_uri}/abstain/certificate.json")
    assert abstain.Certificate.from_json(text).verdict == certificate.verdict


def test_a_logged_model_is_served_by_mlflow(images, estimator, selector):
    x, _ = images
    info = abstain.mlflow.log_model(estimator, selector)
    folder = mlflow.artifacts.download_artifacts(info.model_uri)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["mlflow", "models", "serve", "-m", folder, "--env-manager", "local", "-h", "127.0.0.1", "-p", str(port)]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with open("serve.log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", *command], stdout=log, stderr=log, start_new_session=True, env=environment
        )
    try:
        answer = _post(f"http://127.0.0.1:{port}/invocations", {"inputs": x[1200:1210].tolist()}, server)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(server.pid, 15)
        server.wait(30)
    wanted = expected(selector, estimator, x[1200:1210])
    assert [row["accepted"] for row in answer["predictions"]] == wanted["accepted"].tolist()
    assert [row["prediction"] for row in answer["predictions"]] == wanted["prediction"].tolist()


def _post(url, body, server, *, seconds=200):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except OSError:
            assert server.poll() is None, Path("serve.log").read_text()[-2000:]
            assert time.monotonic() < until
            time.sleep(0.3)
