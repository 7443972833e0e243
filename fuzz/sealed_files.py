"""Sealed files, taken apart and signed again: what selectors and sketches have in common."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes
from safetensors import safe_open
from safetensors.numpy import load, save

BLANK = "0" * 64


def altered_array(rng: np.random.Generator, array: Any) -> Any:
    """An array with other bytes, of another type, shorter or of another shape."""
    match int(rng.integers(4)):
        case 0:
            return np.frombuffer(altered_bytes(rng, array.tobytes())[: array.nbytes].ljust(array.nbytes, b"\0"),
                                 array.dtype).reshape(array.shape)  # fmt: skip
        case 1:
            with np.errstate(over="ignore", invalid="ignore"):
                return array.astype(rng.choice(["f4", "f8", "f2", "i8", "u1", "bool"]))
        case 2:
            return array.reshape(-1)[: int(rng.integers(array.size + 1))].copy()
    return np.ascontiguousarray(array[..., None] if rng.random() < 0.5 else array.T)


def apart(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a file."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["abstain"]), load(content)


def told(file: Path) -> Any:
    """All that a file says but its digest, in a form that can be compared."""
    with safe_open(file, "np") as opened:
        header = json.loads(opened.metadata()["abstain"])
        arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    header.pop("sha256")
    return header, {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()}


def signed(header: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """A file with a digest that fits."""
    blank = {"sha256": BLANK} | {name: value for name, value in header.items() if name != "sha256"}
    content = save(arrays, metadata={"abstain": json.dumps(blank)})
    return content.replace(BLANK.encode(), hashlib.sha256(content).hexdigest().encode(), 1)
