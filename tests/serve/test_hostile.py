"""Hostile bodies get a 4xx in one sentence; the process stays, and so does its size."""

import json
import random

import pytest

GOOD = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 8], "data": [0.5] * 8}]}


JUNK = (None, True, -1, 1e999, "", "x" * 2000, {}, {"data": 1}, [], [1 << 80], [[[]]], [None] * 8, ["1"] * 8, [1, [2]])
INFER, LABELS = "/v2/models/net/infer", "/v2/models/net/labels"
HEADER = "Inference-Header-Content-Length"


def altered(rng):
    """A request with one wrong value."""
    tensor = dict(GOOD["inputs"][0])
    name = rng.choice([*tensor, "parameters", "inputs", "id"])
    if name == "inputs":
        return {"inputs": rng.choice([*JUNK, [tensor, tensor]])}
    if name == "id":
        return GOOD | {"id": rng.choice([-1, True, {}, [], "\ud800", "a\n", " " * 9, "a" * 501])}
    if name == "parameters":
        return {"inputs": [tensor | {name: {"binary_data_size": rng.choice([-1, 1, 1 << 70, "8", [], True])}}]}
    return {"inputs": [tensor | {name: rng.choice(JUNK)}]}


def attempts(n, seed=0):
    """Paths, bodies and headers, none of which can be answered."""
    text, rng = json.dumps(GOOD).encode(), random.Random(seed)
    for _ in range(n):
        noise = rng.randbytes(rng.randrange(5000))
        body = rng.choice(
            [
                text[: rng.randrange(len(text) - 1)],
                b"[" * rng.randrange(1, 50_000),
                b'{"inputs": ' * rng.randrange(1, 5000),
                noise,
                b"{}" + text,
                json.dumps(altered(rng)).encode(),
            ]
        )
        yield rng.choice(
            [
                (INFER, body, {}),
                (LABELS, body, {}),
                (INFER, text + noise + b"x", {HEADER: str(len(text))}),
                (INFER, text, {HEADER: rng.choice(["-1", "x", "9" * 30, str(len(text) - 1), str(len(text) + 1), "0"])}),
            ]
        )


def refuse(service, tried):
    for path, body, headers in tried:
        status, contents = service.get(path, body, **headers)
        assert 400 <= status < 500, (path, body[:200], headers)
        assert json.loads(contents)["error"]


def test_hostile_bodies_are_refused_and_leave_no_memory_behind(service):
    refuse(service, attempts(100))
    before = service.memory()
    refuse(service, attempts(300, seed=1))
    assert service.memory() - before < 20 << 20
    assert service.infer([[0.5] * 8])["accepted"] in ([True], [False])


@pytest.mark.thorough
@pytest.mark.timeout(1800)
def test_ten_thousand_hostile_bodies_leave_no_memory_behind(service):
    refuse(service, attempts(3000, seed=2))  # until the allocator has what the largest bodies take
    before = service.memory()
    refuse(service, attempts(10_000, seed=3))
    growth = service.memory() - before
    print(f"10,000 bodies, memory {before / 1e6:.1f} MB before and {growth / 1e6:+.1f} MB after")
    assert growth < 5 << 20
    assert service.infer([[0.5] * 8])["accepted"] in ([True], [False])
