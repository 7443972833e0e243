"""Sealed files, taken apart, altered and signed again: what selectors and sketches have in common."""

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from alter import altered_bytes, altered_json
from kind import Kind, expect, taken
from safetensors import safe_open
from safetensors.numpy import load, save

BLANK = "0" * 64


class SealedFiles(Kind):
    """Wrong: a file that says other than what is saved again, and whatever `check` finds."""

    packed: ClassVar[tuple[str, ...]] = ()
    """How names of arrays end that are compressed, and so in other bytes on another machine."""

    def __init__(self, folder: Path) -> None:
        self.file, self.again = folder / f"altered.{self.name}", folder / f"again.{self.name}"
        self.originals = []
        for first in self.made():
            first.save(self.file)
            self.originals.append(apart(self.file))

    @abstractmethod
    def made(self) -> Iterable[Any]:
        """What is saved, to be altered then."""

    @abstractmethod
    def load(self, file: Path) -> Any:
        """What a file holds."""

    @abstractmethod
    def check(self, result: Any) -> None:
        """Whether what was loaded can be."""

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the header or the arrays and sign, or the bytes without signing."""
        header, arrays = self.originals[int(rng.integers(len(self.originals)))]
        arrays = dict(arrays)
        if rng.random() < 0.75:
            header = altered_json(rng, header)
        else:
            name = str(rng.choice(sorted(arrays)))  # which are read in any order
            arrays[name] = altered_array(rng, arrays[name])
        content = signed(header, arrays)
        self.file.write_bytes(altered_bytes(rng, content) if rng.random() < 0.1 else content)
        result = taken(lambda: self.load(self.file))
        if result is None:
            return "refused"
        result.save(self.again)
        for before, after in zip(self._told(self.file), self._told(self.again), strict=True):
            differ = [name for name in before | after if name not in before or before[name] != after.get(name)]
            expect(not differ, f"something else is saved again for {', '.join(differ)}")
        self.check(result)
        return "taken"

    def _told(self, file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        """The header and the arrays of a file, of those that are packed only that they are there."""
        header, arrays = reported(file)
        return header, {name: name.endswith(self.packed) or kept for name, kept in arrays.items()}


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


def reported(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
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
