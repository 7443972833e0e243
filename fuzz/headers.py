"""outputs.json with other contents, beside arrays that are as they were."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes, altered_json
from arrays import check_same
from kind import Kind, expect, taken
from samples import outputs

from abstain import Outputs
from abstain.outputs.header import header_digest


def _signed(rng: np.random.Generator, header: Any) -> Any:
    """The header with a digest that fits, most often."""
    if not isinstance(header, dict) or rng.random() < 0.3:
        return header
    return header | {"sha256": header_digest(header)}


class Headers(Kind):
    """Wrong: an array that is not that of the file which the header names for it, or names that it does not hold.

    Without its own digest made anew, any header that says something else.
    """

    name = "json"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "run"
        outputs().save(self.folder)
        self.file = self.folder / "outputs.json"
        self.text = self.file.read_text(encoding="utf-8")

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the values in the header, or its bytes."""
        if rng.random() < 0.7:
            content = json.dumps(_signed(rng, altered_json(rng, json.loads(self.text)))).encode()
        elif rng.random() < 0.1:
            content = b"[" * int(rng.integers(1, 200_000))
        else:
            content = altered_bytes(rng, self.text.encode())
        self.file.write_bytes(content)
        result = taken(lambda: Outputs.load(self.folder, nonfinite="reject"))
        if result is None:
            return "refused"
        header = json.loads(content)
        original = json.loads(self.text)
        if header.get("sha256") in (original["sha256"], None):
            expect(header == original, "a header altered in spite of its digest")
        for field, entry in header["arrays"].items():
            array = result.wrong if field == "wrong" else getattr(result, field)
            expect(array is not None, f"no {field}, which the header names")
            check_same(array, (self.folder / entry["file"]).read_bytes())
        names = header["class_names"]
        expect(result.class_names == (None if names is None else tuple(names)), "other names of classes")
        return "taken"
