"""Tables of JSON lines, with other values, other keys and other bytes."""

import json
from pathlib import Path

import numpy as np
from alter import altered_bytes
from kind import Kind, expect, taken
from samples import N

from abstain import Outputs

VALUES = (
    None,
    True,
    False,
    0,
    1,
    -1,
    0.5,
    1e308,
    2**53 + 1,
    10**400,
    "",
    "0.5",
    "1_0",
    "é",
    "\0",
    [],
    [0.5],
    {},
    {"a": 1},
)
RAW = ("NaN", "Infinity", "-Infinity", "1e999", "01", "+1", ".5", "[" * 5000, '"\\ud800"', '{"confidence": 1}')
KEYS = ("confidence", " confidence", "Confidence", "correct", "error", "id", "group", "", "\0", "label")


def _rows() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    return [{"id": f"s{k}", "confidence": rng.random(), "correct": int(rng.random() < 0.8)} for k in range(N)]


class JsonLines(Kind):
    """Wrong: a confidence, truth or id that is not the value of its line, as Python's own reader has it."""

    name = "jsonl"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "table.jsonl"

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter values and keys, put raw text in place of a value, or alter the bytes."""
        rows, raw = _rows(), ""
        for _ in range(int(rng.integers(1, 4))):
            row = rows[int(rng.integers(N))]
            row[KEYS[int(rng.integers(len(KEYS)))]] = VALUES[int(rng.integers(len(VALUES)))]
        lines = [json.dumps(row) for row in rows]
        if rng.random() < 0.4:
            raw = RAW[int(rng.integers(len(RAW)))]
            lines[int(rng.integers(N))] = f'{{"id": "x", "confidence": {raw}, "correct": 1}}'
        content = "\n".join(lines).encode()
        self.file.write_bytes(content if rng.random() < 0.6 else altered_bytes(rng, content))
        result = taken(lambda: Outputs.load(self.file, nonfinite="reject"))
        if result is None:
            return "refused"
        _check(result, self.file.read_bytes().decode("utf-8-sig"))
        return "taken"


def _check(result: Outputs, text: str) -> None:
    lines = [line for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line.strip()]
    expect(len(result) == len(lines), f"{len(result)} rows of {len(lines)} lines")
    if "confidence" not in result.confidence_names:
        return
    for position, line in enumerate(lines):
        keys = {name.strip(): value for name, value in json.loads(line).items()}
        row = {name.lower(): value for name, value in keys.items()} | keys  # the name as it is comes first
        value, confidence = row.get("confidence"), float(result.confidence("confidence")[position])
        expect(value is None or not isinstance(value, list | dict), f"a number of {value!r:.40}")
        number = float("nan") if value is None or value == "" else float(value)
        expect(
            number == confidence or (number != number and confidence != confidence), f"{confidence} for {value!r:.40}"
        )
        right = row.get("correct")
        if right is not None and right != "" and number == number:
            expect(bool(result.errors[position]) != bool(float(right)), f"row {position} has correct {right!r:.40}")
        if row.get("id") not in (None, "") and result.ids is not None:
            expect(str(result.ids[position]) == str(row["id"]).strip(), f"{result.ids[position]} for {row['id']!r:.40}")
