"""Hostile bodies get a 4xx in one sentence; the process stays, and so does its size."""

import json
import random

GOOD = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 8], "data": [0.5] * 8}]}


def bodies(n):
    text, rng = json.dumps(GOOD).encode(), random.Random(0)
    for _ in range(n):
        at = rng.randrange(len(text) - 1)
        yield rng.choice([text[:at], b"[" * rng.randrange(1, 50_000), rng.randbytes(rng.randrange(5000)), b"{}" + text])


def test_hostile_bodies_are_refused_and_leave_no_memory_behind(service):
    def send(n):
        for body in bodies(n):
            status, contents = service.get("/v2/models/net/infer", body)
            assert 400 <= status < 500
            assert json.loads(contents)["error"]

    send(100)
    before = service.memory()
    send(300)
    assert service.memory() - before < 20 << 20
    assert service.infer([[0.5] * 8])["accepted"] in ([True], [False])
