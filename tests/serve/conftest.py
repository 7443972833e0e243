"""A small classifier, a selector, and services in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import onnx
import pytest

from abstain import Outputs, calibrate
from abstain.collect import OnnxModel

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Classifier:
    """A graph of five classes on eight numbers, with labelled inputs and a selector."""

    def __init__(self, folder):
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(5, 8)).astype(np.float32)
        helper, value = onnx.helper, onnx.helper.make_tensor_value_info
        arrays = {"w": 2 * centres, "b": -np.square(centres).sum(1)}
        graph = helper.make_graph(
            [
                helper.make_node("Gemm", ["x", "w", "b"], ["z"], transB=1),
                helper.make_node("Softmax", ["z"], ["p"], axis=1),
            ],
            "net",
            [value("x", onnx.TensorProto.FLOAT, ["n", 8])],
            [value("p", onnx.TensorProto.FLOAT, ["n", 5])],
            [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
        )
        self.model = folder / "net.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), self.model)
        labels = rng.integers(5, size=2000)
        self.inputs = (centres[labels] + rng.normal(scale=0.9, size=(2000, 8))).astype(np.float32)
        logits, _ = OnnxModel(self.model).run(self.inputs)
        self.outputs = Outputs(logits=logits, labels=labels)
        self.selector = calibrate(self.outputs, risk=0.1)
        self.file = folder / "s.abstain"
        self.selector.save(self.file)


class Running:
    """A service in a process of its own."""

    def __init__(self, classifier, *options):
        command = [sys.executable, "-m", "abstain", "serve", classifier.file, "--model", classifier.model, "--port", 0]
        self.process = subprocess.Popen(
            [*map(str, command), *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        if not line.startswith("Serving"):
            raise RuntimeError(self.process.communicate()[1])
        self.address = line.split(" at http://")[1].split("/")[0]
        self.url = f"http://{self.address}"
        while True:  # it listens before it is ready
            try:
                self.get("/v2/health/ready")
                return
            except OSError:
                time.sleep(0.02)

    def get(self, path, body=None, **headers):
        """The status and the contents of an answer."""
        request = urllib.request.Request(self.url + path, body, headers)
        try:
            with OPENER.open(request, timeout=30) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def infer(self, rows, **more):
        """The outputs for rows, by name."""
        rows = np.asarray(rows)
        tensor = {"name": "x", "datatype": "FP32", "shape": list(rows.shape), "data": rows.ravel().tolist()}
        status, contents = self.get("/v2/models/net/infer", json.dumps({"inputs": [tensor]} | more).encode())
        assert status == 200, contents
        return {output["name"]: output["data"] for output in json.loads(contents)["outputs"]}

    def memory(self):
        """Resident bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def stop(self):
        """End it with SIGTERM; what it wrote to standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=30)
        return errors


@pytest.fixture(scope="session")
def classifier(tmp_path_factory):
    return Classifier(tmp_path_factory.mktemp("classifier"))


@pytest.fixture
def start(classifier):
    """Start services that end with the test."""
    running = []

    def started(*options):
        running.append(Running(classifier, *options))
        return running[-1]

    yield started
    for service in running:
        if service.process.poll() is None:
            service.kill()


@pytest.fixture(scope="module")
def service(classifier):
    """One that the tests of a module share; it must end cleanly."""
    running = Running(classifier)
    yield running
    errors = running.stop()
    assert running.process.returncode == 0
    assert "Traceback" not in errors
