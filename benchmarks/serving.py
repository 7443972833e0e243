"""Requests per second and their time: `abstain serve` beside plain ONNX Runtime behind FastAPI, on the same cores."""

import asyncio
import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from finding import Finding

FEATURES, CLASSES, HIDDEN = 32, 10, 64
CONNECTIONS = 8
PLAIN = """
import sys
import numpy as np, onnxruntime, uvicorn
from fastapi import FastAPI, Request
app, session = FastAPI(), onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])

@app.post("/infer")
def infer(body: dict):
    tensor = body["inputs"][0]
    rows = np.asarray(tensor["data"], dtype=np.float32).reshape(tensor["shape"])
    (p,) = session.run(None, {tensor["name"]: rows})
    best = {"prediction": p.argmax(1), "confidence": p.max(1)}
    return {"outputs": [{"name": name, "data": values.tolist()} for name, values in best.items()]}

uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False)
"""


def serving(quick: bool) -> Iterator[Finding]:
    """Bodies of 1 and of 100 rows; ours with a log that is synced before each response, and without."""
    seconds = 3.0 if quick else 15.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder)
        ours = ["-m", "abstain", "serve", f"{name}/s.abstain", "--model", f"{name}/net.onnx", "--port"]
        plain = _measured(["-c", PLAIN, f"{name}/net.onnx"], "/infer", seconds)
        for kind, more in (("with a log", ["--log", f"{name}/d.jsonl", "--state", f"{name}/w.json"]), ("no log", [])):
            mine = _measured(ours, "/v2/models/net/infer", seconds, more)
            for n in (1, 100):
                what = f"abstain serve, {kind}, {n}-row bodies"
                peer = plain[n]
                rate, (p50, p99) = len(mine[n]) / seconds, np.percentile(mine[n], [50, 99])
                peer_rate, (peer50, peer99) = len(peer) / seconds, np.percentile(peer, [50, 99])
                against = f"{rate:.0f} requests/s, FastAPI with ONNX Runtime {peer_rate:.0f}"
                yield Finding(what, against, "slower", peer_rate / rate, None, 1 / rate, 1 / peer_rate)
                yield Finding(f"{what}, p50", "FastAPI", "slower", p50 / peer50, None, p50, peer50)
                yield Finding(f"{what}, p99", "FastAPI", "slower", p99 / peer99, None, p99, peer99)


def _prepare(folder: Path) -> None:
    """A network, and a selector for it."""
    from abstain import Outputs, calibrate
    from abstain.collect import OnnxModel

    rng, helper = np.random.default_rng(0), onnx.helper
    arrays = {"v": rng.normal(size=(FEATURES, HIDDEN)), "w": rng.normal(size=(HIDDEN, CLASSES)), "b": np.zeros(CLASSES)}
    nodes = [("MatMul", ["x", "v"], ["h"]), ("Relu", ["h"], ["f"]), ("Gemm", ["f", "w", "b"], ["z"])]
    graph = helper.make_graph(
        [*(helper.make_node(*node) for node in nodes), helper.make_node("Softmax", ["z"], ["p"], axis=1)],
        "net",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", FEATURES])],
        [helper.make_tensor_value_info("p", onnx.TensorProto.FLOAT, ["n", CLASSES])],
        [onnx.numpy_helper.from_array(array.astype(np.float32), name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "net.onnx")
    logits, _ = OnnxModel(folder / "net.onnx").run(rng.normal(size=(2000, FEATURES)).astype(np.float32))
    noisy = logits + rng.gumbel(size=logits.shape)
    calibrate(Outputs(logits=logits, labels=noisy.argmax(1)), risk=0.1).save(folder / "s.abstain")


def _measured(command: list[str], path: str, seconds: float, more: list[str] | None = None) -> dict[int, list[float]]:
    """The seconds of each request, for bodies of 1 and of 100 rows."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, *command, str(port), *(more or ())], stdout=subprocess.DEVNULL)
    try:
        times = {}
        for n in (1, 100):
            request = _request(path, n)
            _wait(port, request)
            asyncio.run(_load(port, request, min(1.0, seconds)))
            times[n] = asyncio.run(_load(port, request, seconds))
        return times
    finally:
        process.terminate()
        process.wait()


def _request(path: str, n: int) -> bytes:
    rows = np.random.default_rng(1).normal(size=(n, FEATURES)).astype(np.float32).round(4)
    tensor = {"name": "x", "datatype": "FP32", "shape": list(rows.shape), "data": rows.ravel().tolist()}
    body = json.dumps({"inputs": [tensor]}).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _wait(port: int, request: bytes) -> None:
    for _ in range(600):
        try:
            asyncio.run(_load(port, request, 0.0))
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError("the server did not start")


async def _load(port: int, request: bytes, seconds: float) -> list[float]:
    end = time.perf_counter() + seconds
    parts = await asyncio.gather(*(_client(port, request, end) for _ in range(CONNECTIONS)))
    return [value for part in parts for value in part]


async def _client(port: int, request: bytes, end: float) -> list[float]:
    """One connection that asks again as soon as it has an answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times: list[float] = []
    while True:
        begun = time.perf_counter()
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.decode())
        length = next(
            int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
        )
        await reader.readexactly(length)
        now = time.perf_counter()
        times.append(now - begun)
        if now >= end:
            writer.close()
            return times
