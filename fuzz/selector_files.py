"""Selector files, altered and signed again."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes, altered_json
from kind import Kind, expect, taken
from safetensors import safe_open
from safetensors.numpy import load, save
from samples import CLASSES, outputs

from abstain import Outputs, Selector, calibrate

BLANK = "0" * 64
SCORES = ("confidence_margin", "knn", "vim", "sirc", "rmds", "react", "max_logit_pnorm", "delta_knn_margin", "nnguide")


class Selectors(Kind):
    """Wrong: a file that says other than what is saved again, a decision against the threshold, an accepted NaN."""

    name = "selector"

    def __init__(self, folder: Path) -> None:
        self.file, self.again = folder / "altered.abstain", folder / "again.abstain"
        sample = outputs(400)
        self.rows = outputs(20, seed=1)
        made = [calibrate(sample, score=score, coverage=0.5) for score in SCORES]
        made += [calibrate(sample, risk=0.3, per="class"), calibrate(sample, cost=0.3, costs=1 - np.eye(CLASSES))]
        self.originals = []
        for selector in made:
            selector.save(self.file)
            self.originals.append(_apart(self.file))

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the header or the arrays and sign, or the bytes without signing."""
        header, arrays = self.originals[int(rng.integers(len(self.originals)))]
        arrays = dict(arrays)
        if rng.random() < 0.75:
            header = altered_json(rng, header)
        else:
            name = str(rng.choice(sorted(arrays)))  # which are read in any order
            arrays[name] = _altered_array(rng, arrays[name])
        content = _signed(header, arrays)
        self.file.write_bytes(altered_bytes(rng, content) if rng.random() < 0.1 else content)
        selector = taken(lambda: Selector.load(self.file))
        if selector is None:
            return "refused"
        selector.save(self.again)
        for before, after in zip(_told(self.file), _told(self.again), strict=True):
            differ = [name for name in before | after if name not in before or before[name] != after.get(name)]
            expect(not differ, f"something else is saved again for {', '.join(differ)}")
        _check(selector, self.rows)
        return "taken"


def _check(selector: Selector, rows: Outputs) -> None:
    expect(selector.threshold.value == selector.threshold.value and selector.threshold.n >= 0, "an illegal threshold")
    expect(isinstance(selector.summary(), str) and repr(selector), "no summary")
    decided = taken(lambda: selector.decide(rows))
    if decided is None:
        return
    confidence, accepted = decided["confidence"], decided["accepted"]
    expect(accepted.dtype == bool and accepted.shape == (len(rows),), "decisions of another form")
    expect(not accepted[np.isnan(confidence)].any(), "an accepted NaN")
    expect(((decided["prediction"] >= -1) & (decided["prediction"] < CLASSES)).all(), "a class that is none")
    if selector.groups is None:
        expect((accepted == (confidence > selector.threshold.value)).all(), "a decision against the threshold")


def _altered_array(rng: np.random.Generator, array: Any) -> Any:
    match int(rng.integers(4)):
        case 0:
            return np.frombuffer(altered_bytes(rng, array.tobytes())[: array.nbytes].ljust(array.nbytes, b"\0"),
                                 array.dtype).reshape(array.shape)  # fmt: skip
        case 1:
            return array.astype(rng.choice(["f4", "f8", "f2", "i8", "u1", "bool"]))
        case 2:
            return array.reshape(-1)[: int(rng.integers(array.size + 1))].copy()
    return np.ascontiguousarray(array[..., None] if rng.random() < 0.5 else array.T)


def _apart(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["abstain"]), load(content)


def _told(file: Path) -> Any:
    """All that a file says but its digest, in a form that can be compared."""
    with safe_open(file, "np") as opened:
        header = json.loads(opened.metadata()["abstain"])
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    header.pop("sha256")
    return header, {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def _signed(header: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    blank = {"sha256": BLANK} | {name: value for name, value in header.items() if name != "sha256"}
    content = save(arrays, metadata={"abstain": json.dumps(blank)})
    return content.replace(BLANK.encode(), hashlib.sha256(content).hexdigest().encode(), 1)
