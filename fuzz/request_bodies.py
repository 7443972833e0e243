"""Bodies of requests to a service: altered JSON, tensors, binary parts and headers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from kind import Kind, expect

from abstain import Outputs, calibrate
from abstain.collect import OnnxModel
from abstain.serve import Limits, Predictor, Service, application

VALUES = [None, True, -1, 0, 1, 1 << 70, 1e400, "FP32", "BYTES", "x", "\ud800", "", [], {}, [[]], [1, [2]], "9" * 5000]
BYTES = [b"", b"\0", b"[" * 5000, b'{"inputs":', b"\xff\xfe", b"NaN", b'{"a":1}' * 3, b"1" * 5000]
INFER, LABELS = "/v2/models/net/infer", "/v2/models/net/labels"


class Requests(Kind):
    """Wrong: a status of 500 or above, an answer without a reason, or other decisions than the rows given."""

    name = "request"

    def __init__(self, folder: Path) -> None:
        rng, helper = np.random.default_rng(0), onnx.helper
        weight = rng.normal(size=(3, 4)).astype(np.float32)
        graph = helper.make_graph(
            [helper.make_node("Gemm", ["x", "w"], ["z"], transB=1)],
            "net",
            [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 4])],
            [helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["n", 3])],
            [onnx.numpy_helper.from_array(weight, "w")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, folder / "net.onnx")
        inputs = rng.normal(size=(500, 4)).astype(np.float32)
        logits, _ = OnnxModel(folder / "net.onnx").run(inputs)
        selector = calibrate(Outputs(logits=logits, labels=logits.argmax(1)), risk=0.2)
        self.service = Service(Predictor(folder / "net.onnx", selector), name="net")
        self.service.start()
        self.application = application(self.service, limits=Limits(body=1 << 16))
        self.loop = asyncio.new_event_loop()

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter a good request once or more, and send it."""
        path = INFER if rng.random() < 0.85 else LABELS
        body, headers = _request(rng) if path == INFER else (_labels(rng), {})
        if rng.random() < 0.4:
            body = _cut(rng, body)
        status, contents = self.loop.run_until_complete(self._send(path, body, headers))
        expect(status < 500, f"status {status}: {contents[:200]!r}")
        if status != 200:
            expect(json.loads(contents).get("error"), f"no reason: {contents[:200]!r}")
            return "refused"
        return "taken"

    async def _send(self, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        """The status and the contents of the answer, from the application itself."""
        sent: list[dict[str, Any]] = []
        parts = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        fields = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b""}
        scope |= {"headers": fields, "http_version": "1.1", "scheme": "http", "root_path": "", "server": ("x", 1)}
        await self.application(scope | {"client": ("y", 2), "asgi": {"version": "3.0"}}, receive, send)
        return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def _request(rng: np.random.Generator) -> tuple[bytes, dict[str, str]]:
    n = int(rng.integers(1, 4))
    rows = rng.normal(size=(n, 4)).astype(np.float32)
    binary = rng.random() < 0.4
    tensor: dict[str, Any] = {"name": "x", "datatype": "FP32", "shape": [n, 4]}
    tensor |= {"parameters": {"binary_data_size": rows.nbytes}} if binary else {"data": rows.tolist()}
    document: dict[str, Any] = {"id": f"r{rng.integers(100)}", "inputs": [tensor], "outputs": [{"name": "answer"}]}
    for _ in range(int(rng.integers(0, 3))):
        part = [document, tensor, tensor.get("parameters", document), document["outputs"][0]][int(rng.integers(4))]
        if isinstance(part, dict) and part:
            key = list(part)[int(rng.integers(len(part)))]
            part[key] = VALUES[int(rng.integers(len(VALUES)))]
        if not isinstance(document.get("outputs"), list) or not document["outputs"]:
            document["outputs"] = [{"name": "answer"}]
    header = json.dumps(document).encode("utf-8", "replace")
    if not binary:
        return header, {}
    length = str(len(header) + int(rng.choice([0, 0, 0, 1, -1, 1 << 40])))
    return header + rows.tobytes(), {"Inference-Header-Content-Length": length}


def _labels(rng: np.random.Generator) -> bytes:
    value = VALUES[int(rng.integers(len(VALUES)))]
    label = [{"id": "r1", "error": True}, {"id": value, "error": value}, value][int(rng.integers(3))]
    return json.dumps({"labels": [label] if rng.random() < 0.8 else value}).encode("utf-8", "replace")


def _cut(rng: np.random.Generator, body: bytes) -> bytes:
    """Bytes changed, cut off, doubled or replaced."""
    at = int(rng.integers(len(body) + 1))
    kinds = [body[:at], body[:at] + bytes([int(rng.integers(256))]) + body[at + 1 :], body + body[at:]]
    kinds += [BYTES[int(rng.integers(len(BYTES)))], body[:at] + BYTES[int(rng.integers(len(BYTES)))] + body[at:]]
    return kinds[int(rng.integers(len(kinds)))]
