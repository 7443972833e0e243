"""outputs.json with other contents, beside arrays that are as they were."""

import json
from pathlib import Path

import numpy as np
from alter import altered_bytes, altered_json
from arrays import check_same
from kind import Kind, expect, taken
from samples import outputs

from abstain import Outputs


class Headers(Kind):
    """Wrong: an array that is not that of the file which the header names for it, or names that it does not hold."""

    name = "json"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "run"
        outputs().save(self.folder)
        self.file = self.folder / "outputs.json"
        self.text = self.file.read_text(encoding="utf-8")

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the values in the header, or its bytes."""
        if rng.random() < 0.7:
            content = json.dumps(altered_json(rng, json.loads(self.text))).encode()
        elif rng.random() < 0.1:
            content = b"[" * int(rng.integers(1, 200_000))
        else:
            content = altered_bytes(rng, self.text.encode())
        self.file.write_bytes(content)
        found = taken(lambda: Outputs.load(self.folder, nonfinite="reject"))
        if found is None:
            return "refused"
        header = json.loads(content)
        for field, entry in header["arrays"].items():
            array = found.wrong if field == "wrong" else getattr(found, field)
            expect(array is not None, f"no {field}, which the header names")
            check_same(array, (self.folder / entry["file"]).read_bytes())
        names = header["class_names"]
        expect(found.class_names == (None if names is None else tuple(names)), "other names of classes")
        return "taken"
