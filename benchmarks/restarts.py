"""Requests to `abstain serve` for ten minutes, killed at random: nothing acknowledged is lost, nothing counts twice.

A client sends a request again, with the same id, until it is answered. At the end the service is stopped in order, and
its log and the state of its monitors are compared with what was acknowledged.
"""

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from serving import FEATURES, _prepare

SECONDS, CLIENTS = 600.0, 4
BETWEEN = (15.0, 45.0)  # seconds from one kill to the next
ROWS = (1, 1, 5)


@dataclass(eq=False)
class Traffic:
    """What clients sent and what was acknowledged."""

    port: int
    ending: threading.Event = field(default_factory=threading.Event)
    sent: set[str] = field(default_factory=set)
    accepted: dict[str, bool] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)

    def ask(self, number: int) -> None:
        """Send one request after another, each until it is answered."""
        rng, rows = random.Random(number), np.random.default_rng(number).normal(size=(1000, FEATURES)).round(4)
        connection, k = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30), 0
        while not self.ending.is_set():
            n, name = rng.choice(ROWS), f"c{number}-{k}"
            tensor = {"name": "x", "datatype": "FP32", "shape": [n, FEATURES]}
            tensor["data"] = rows[[(k + row) % 1000 for row in range(n)]].ravel().tolist()
            body = json.dumps({"id": name, "inputs": [tensor]})
            self.sent.update([name] if n == 1 else [f"{name}-{row}" for row in range(n)])
            while not self.ending.is_set() and not self._answered(connection, body):
                time.sleep(0.05)
            k += 1

    def _answered(self, connection: http.client.HTTPConnection, body: str) -> bool:
        try:
            connection.request("POST", "/v2/models/net/infer", body)
            response = connection.getresponse()
            contents = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            self.requests["cut off"] += 1
            return False
        self.requests[str(response.status)] += 1
        if response.status != 200:
            return False
        outputs = {output["name"]: output["data"] for output in json.loads(contents)["outputs"]}
        self.accepted.update(zip(outputs["id"], outputs["accepted"], strict=True))
        return True


def restarts() -> bool:
    """Kill the service every half a minute for ten minutes; print and return whether all was as it must be."""
    rng = random.Random()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder)
        traffic = Traffic(_free_port())
        clients = [threading.Thread(target=traffic.ask, args=(number,)) for number in range(CLIENTS)]
        service, kills, end = _started(folder, traffic.port), 0, time.monotonic() + SECONDS
        for client in clients:
            client.start()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, rng.uniform(*BETWEEN)))
            if time.monotonic() < end:
                service.send_signal(signal.SIGKILL)
                service.wait()
                kills += 1
                service = _started(folder, traffic.port)
        traffic.ending.set()
        for client in clients:
            client.join()
        _wait_until_ready(traffic.port)
        service.send_signal(signal.SIGTERM)
        checks = {"the service ends with 0": service.wait(60) == 0} | _checks(folder, traffic)
    requests = traffic.requests
    print(f"{SECONDS:g} s, {CLIENTS} clients, {kills} kills: {requests['200']:,} requests and", end=" ")
    print(f"{len(traffic.accepted):,} decisions acknowledged, {requests['cut off']:,} attempts cut off or refused.")
    for words, holds in checks.items():
        print(f"- {words}: {'yes' if holds else 'NO'}")
    return all(checks.values()) and kills > 0 and len(traffic.accepted) > 0


def _checks(folder: Path, traffic: Traffic) -> dict[str, bool]:
    from abstain.decision_log.parts import log_parts
    from abstain.decision_log.table import part_records
    from abstain.monitor import Watch

    logged: dict[str, bool] = {}
    total, parts, in_order = 0, 0, True
    for part in log_parts(folder / "d.jsonl"):
        parts += 1
        for record in part_records(part):
            total += 1
            in_order &= record["sequence"] == total
            logged[record["id"]] = record["accepted"]
    watch = Watch.from_json((folder / "w.json").read_text())
    acceptance: Any = watch.monitors.acceptance
    print(f"{total:,} decisions in {parts} parts of the log.")
    return {
        "numbers in the log without gaps": in_order,
        "no decision in the log twice": len(logged) == total,
        "none lost after it was acknowledged": traffic.accepted.items() <= logged.items(),
        "none that nobody asked for": logged.keys() <= traffic.sent,
        "each counted once by the monitors": watch.position == total == acceptance.n,
        "with its verdict": acceptance.accepted == sum(logged.values()),
    }


def _started(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "abstain", "serve", "s.abstain", "--model", "net.onnx", "--port", str(port)]
    command += ["--log", "d.jsonl", "--state", "w.json", "--log-bytes", str(4 << 20)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=os.environ)


def _wait_until_ready(port: int) -> None:
    for _ in range(600):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/v2/health/ready")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise TimeoutError("the service did not start")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port
