"""Tables of confidences: .csv and .parquet with other cells and other bytes."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
from alter import altered_bytes
from kind import Kind, captured, expect, taken
from samples import N

from abstain import Outputs

CELLS = (
    "",
    " ",
    "1",
    "0",
    "0.5",
    "-1e999",
    "inf",
    "nan",
    "NaN",
    "true",
    "No",
    "é",
    '"',
    "a,b",
    "\0",
    "1_0",
    "٣",
    "9007199254740993",
    "x" * 200_000,
)
TRUE = ("1", "1.0", "true", "yes")


def _rows() -> list[list[str]]:
    rng = np.random.default_rng(0)
    rows = [["id", "confidence", "correct", "group", "note"]]
    cells = [[f"s{k}", f"{rng.random():.17g}", str(int(rng.random() < 0.8)), "ab"[k % 2], ""] for k in range(N)]
    return rows + cells


class Tables(Kind):
    """Wrong: a confidence, truth or id that is not the cell's, as a plain reading of the text has it."""

    name = "csv"

    def __init__(self, folder: Path) -> None:
        self.file = folder / "table.csv"

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter cells and quote them well, or the bytes of the text."""
        rows = [list(row) for row in _rows()]
        inside = rng.random() < 0.6
        for _ in range(int(rng.integers(1, 4)) if inside else 0):
            row = rows[int(rng.integers(len(rows)))]
            if row:
                row[int(rng.integers(len(row)))] = CELLS[int(rng.integers(len(CELLS)))]
            if rng.random() < 0.1:
                row[:] = row[: int(rng.integers(len(row) + 1))]
        stream = io.StringIO(newline="")
        csv.writer(stream).writerows(rows)
        content = stream.getvalue().encode()
        self.file.write_bytes(content if inside else altered_bytes(rng, content))
        result = taken(lambda: Outputs.load(self.file, nonfinite="reject"))
        if result is None:
            return "refused"
        _check(result, self.file.read_bytes().decode("utf-8-sig"))
        return "taken"


def _check(result: Outputs, text: str) -> None:
    cells = [
        {k.strip().lower(): v for k, v in row.items() if k} for row in csv.DictReader(io.StringIO(text, newline=""))
    ]
    expect(len(result) == len(cells), f"{len(result)} rows of a table of {len(cells)}")
    given = result.confidence("confidence")
    for row, confidence, position in zip(cells, given, range(len(result)), strict=True):
        expect("_" not in row["confidence"] and row["confidence"].isascii(), f"a number of {row['confidence']!r}")
        number = float(row["confidence"] or "nan")
        expect(number == confidence or (number != number and confidence != confidence), f"{confidence} for {number}")
        if "correct" in row and number == number:
            right = row["correct"].strip().lower() in TRUE
            expect(bool(result.errors[position]) != right, f"row {position} taken for {'wrong' if right else 'right'}")
        if "id" in row and result.ids is not None:
            name = re.sub(r"^(-?\d+)\.0+$", r"\1", row["id"].strip())
            name = name.capitalize() if name in ("true", "false") else name  # as pandas and Polars write them
            expect(str(result.ids[position]) == name, f"the id {result.ids[position]} for {row['id']}")


class Parquets(Kind):
    """Wrong: a confidence that another Parquet library does not read from the same bytes, where it reads them."""

    name = "parquet"

    def __init__(self, folder: Path) -> None:
        import polars

        header, *rows = _rows()
        columns: dict[str, Any] = {name: [row[position] for row in rows] for position, name in enumerate(header)}
        columns["confidence"] = [float(cell) for cell in columns["confidence"]]
        self.polars, self.file = polars, folder / "table.parquet"
        polars.DataFrame(columns).write_parquet(self.file)
        self.content = self.file.read_bytes()

    def attempt(self, rng: np.random.Generator) -> str:
        """Alter the bytes, more often near the end, where the description of the columns is."""
        start = len(self.content) // 2 if rng.random() < 0.5 else 0
        self.file.write_bytes(altered_bytes(rng, self.content, start=start))
        with captured(2) as words:
            result = taken(lambda: Outputs.load(self.file, nonfinite="reject"))
        expect(not words[0], f"words on standard error: {words[0][:200]}")
        if result is None:
            return "refused"
        with captured(2):  # where it panics
            try:
                said = self.polars.read_parquet(self.file)["confidence"].cast(float).to_numpy()
            except BaseException:
                return "taken"
        given = result.confidence("confidence")
        expect(np.array_equal(said.astype(np.float64), given, equal_nan=True), "other confidences")
        return "taken"
