"""Rows of a stream of decisions: CSV, Parquet or JSON lines, from a file or as they come."""

import csv
import json
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._io.files import reading
from abstain._kernels.cells import LINES, POSITION, ROWS, split_cells
from abstain.decision_log import is_log, log_parts
from abstain.monitor.row import SOURCES, supplied
from abstain.monitor.rows import Columns, StreamRows
from abstain.monitor.rule import Rule
from abstain.monitor.text_cells import TextCells
from abstain.outputs.column_names import spelled
from abstain.outputs.csv_file import LONGEST_FIELD, delimiter_of
from abstain.outputs.parquet import read_parquet

BATCH = 262_144
BLOCK = 1 << 23  # bytes of a CSV file that are read at once
LIVE = "-"
KNOWN = {name for names in SOURCES.values() for name in names}
DECIDED = ("accepted", "reason")  # columns of decisions that no outputs have
DECODER = json.JSONDecoder()


@final
@dataclass(frozen=True, eq=False)
class StreamBatch:
    """Rows of a stream, those with the same columns together: the indices of the rows, which rise, and the columns."""

    parts: Sequence[tuple[NDArray[np.intp], Columns]]

    @classmethod
    def of_columns(cls, columns: Columns, /) -> Self:
        """From columns of equal length."""
        return cls([(np.arange(len(next(iter(columns.values()), ()))), columns)])

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]], /) -> Self:
        """From rows, which may differ in their columns."""
        alike: dict[tuple[str, ...], list[int]] = {}
        for k, row in enumerate(rows):
            alike.setdefault(tuple(row), []).append(k)
        return cls(
            [(np.array(at), {name: [rows[k][name] for k in at] for name in names}) for names, at in alike.items()]
        )

    @property
    def names(self) -> Iterable[str]:
        """The names of the columns, those of the first row first."""
        return dict.fromkeys(name for _, columns in self.parts for name in columns)

    def read(self, *, start: int = 1, rule: Rule | None = None, group: str | None = None) -> StreamRows:
        """The rows as the monitors see them, the first of which is number ``start``; an error names the first bad row.

        ``rule`` decides rows without a verdict; ``group`` is the column whose values are its groups, if it has one.
        """
        parts = []
        for indices, columns in self.parts:
            try:
                rows = StreamRows.of_columns(columns, group=group)
                parts.append(rows if rule is None else rule.decided(rows))
            except ValueError as problem:
                row = int(indices[getattr(problem, "row", 0)])
                # an earlier row may be bad in a column that is read later
                self._before(row).read(start=start, rule=rule, group=group)
                raise InvalidInputError(f"Row {start + row}: {problem}") from None
        return StreamRows.joined(parts, [indices for indices, _ in self.parts])

    def _before(self, row: int) -> "StreamBatch":
        """The rows before this one."""
        ends = [int(np.searchsorted(indices, row)) for indices, _ in self.parts]
        return StreamBatch(
            [
                (indices[:end], {name: column[:end] for name, column in columns.items()})
                for (indices, columns), end in zip(self.parts, ends, strict=True)
            ]
        )


def batches(stream: str, needed: set[str], /) -> Iterator[StreamBatch]:
    """Rows in batches, by line from standard input so that an alarm is reported at once.

    Rows with nothing ``needed``, of error, accepted and confidence, are an error.
    """
    path = Path(stream)
    if stream == LIVE:
        with reading(Path("standard input"), "decisions"):
            yield from _gathered(_json_lines(sys.stdin, needed), 1)
    elif is_log(path):
        for part in log_parts(path):
            yield from _gathered(_json_lines(part, needed), BATCH) if isinstance(part, list) else _file(part, needed)
    else:
        yield from _file(path, needed)


def _file(path: Path, needed: set[str]) -> Iterator[StreamBatch]:
    """The same of a single file."""
    if path.suffix.lower() == ".parquet":
        yield from _parquet(path, needed)
    elif path.suffix.lower() == ".csv":
        with reading(path, "decisions", may_be_pipe=True), open(path, "rb") as file:
            yield from _csv(file, needed)
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        with reading(path, "decisions", may_be_pipe=True), open(path, encoding="utf-8") as file:
            yield from _gathered(_json_lines(file, needed), BATCH)
    else:
        raise InvalidInputError(f"`stream` must end in .csv, .parquet or .jsonl, or be -, got {path}.")


def check_columns(names: Iterable[str], needed: set[str], /) -> None:
    """Something needed must be there, or nothing would ever be counted."""
    if not needed & supplied(names):
        wanted = f"one of the columns {', '.join(sorted(needed))}" if len(needed) > 1 else f"a column {min(needed)}"
        raise InvalidInputError(f"`stream` must have {wanted}, got {', '.join(names) or 'none':.500}.")


def _gathered(rows: Iterator[dict[str, Any]], size: int) -> Iterator[StreamBatch]:
    while batch := list(islice(rows, size)):
        yield StreamBatch.of_rows(batch)


def _parquet(path: Path, needed: set[str]) -> Iterator[StreamBatch]:
    frame = read_parquet(path)
    frame = frame.rename(spelled(frame.columns, also=DECIDED))
    check_columns(frame.columns, needed)
    for start in range(0, len(frame), BATCH):
        part = frame[start : start + BATCH]
        yield StreamBatch.of_columns({name: part[name] for name in part.columns})


def _csv(file: BinaryIO, needed: set[str]) -> Iterator[StreamBatch]:
    first = file.readline().decode("utf-8-sig")
    delimiter = delimiter_of(StringIO(first, newline=""))
    reader = csv.reader(_lines(first, file), delimiter=delimiter)  # a pipe is read once
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
    try:
        header = [name.strip() for name in next(reader, [])]
        if len(set(header)) != len(header):
            raise InvalidInputError(f"`stream` must have distinct column names, got {', '.join(header):.500}.")
        ours = spelled(header, also=DECIDED)
        header = [ours.get(name, name) for name in header]
        check_columns(header, needed)
        number = 0
        if reader.line_num == 1 and "\r" not in first.rstrip("\r\n") and file.seekable():
            number = yield from _plain_csv(file, header, ord(delimiter))
            reader = csv.reader(_lines("", file), delimiter=delimiter)  # what is left
        while given := list(islice(reader, BATCH)):
            if set(map(len, given)) != {len(header)}:
                for k, row in enumerate(given, start=number + 1):
                    if len(row) not in (0, len(header)):
                        raise InvalidInputError(
                            f"`stream` must have {len(header)} cells per row, got {len(row)} in row {k}."
                        )
            number += len(given)
            rows = [row for row in given if row]
            if rows:
                columns = zip(header, zip(*rows, strict=True), strict=True)
                yield StreamBatch.of_columns({name: list(map(str.strip, cells)) for name, cells in columns})
    except csv.Error as error:
        raise InvalidInputError(f"`stream` must be a CSV file, got {error}.") from None


def _lines(first: str, file: BinaryIO) -> Iterator[str]:
    """The first line, as csv sees it, and those that follow it in the file."""
    yield from StringIO(first, newline="")
    with TextIOWrapper(file, encoding="utf-8", newline="") as lines:
        yield from lines


def _plain_csv(file: BinaryIO, header: list[str], delimiter: int) -> Generator[StreamBatch, None, int]:
    """Batches of lines that need no parser; it leaves the file at the first batch that does. How many lines it read."""
    position, number, text, done = file.tell(), 0, b"", np.zeros(3, dtype=np.int64)
    while True:
        text = text[done[POSITION] :]
        starts, ends = np.empty((2, len(header), BATCH), dtype=np.int64)
        done[:], is_whole = 0, False
        while is_plain := split_cells(np.frombuffer(text, np.uint8), delimiter, BATCH, starts, ends, done):
            if done[LINES] == BATCH or is_whole:
                break
            more = file.read(BLOCK)
            is_whole, text = len(more) < BLOCK, text + more
            text += b"\n" if is_whole and text and not text.endswith(b"\n") else b""
        is_cut = done[LINES] < BATCH and done[POSITION] < len(text)
        if not done[LINES] or not is_plain or is_cut or not _is_utf8(text[: done[POSITION]]):
            file.seek(position)
            return number
        position, number = position + int(done[POSITION]), number + int(done[LINES])
        data, rows = np.frombuffer(text, np.uint8), int(done[ROWS])
        cells = (TextCells(data, first[:rows], last[:rows]) for first, last in zip(starts, ends, strict=True))
        if rows:
            yield StreamBatch.of_columns(dict(zip(header, cells, strict=True)))


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:
        return False


def _json_lines(lines: Iterable[str], needed: set[str]) -> Iterator[dict[str, Any]]:
    """Rows may differ in their columns; each must have a known one, and some row something needed."""
    names: dict[str, None] = {}
    spellings: dict[tuple[str, ...], list[str]] = {}
    enough = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = _decoded(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"`stream` must hold JSON lines, got {error} in line {number}.") from None
        if not isinstance(row, dict):
            raise InvalidInputError(
                f"`stream` must hold one JSON object per line, got {line.strip()[:40]!r} in line {number}."
            )
        ours = spellings.get(tuple(row))
        if ours is None:
            usual = spelled(row, also=DECIDED)
            spellings[tuple(row)] = ours = [str(usual.get(each, each)) for each in row]
            if not KNOWN & set(ours):
                check_columns(ours, set(SOURCES))
            names |= dict.fromkeys(ours)
            enough = enough or bool(needed & supplied(ours))
        yield dict(zip(ours, row.values(), strict=True))
    if names and not enough:
        check_columns(names, needed)


def _decoded(line: str) -> Any:
    """As `json.loads`, which takes longer than this where a line is an object and nothing else."""
    if line.startswith("{") and line.endswith("}\n"):
        row, end = DECODER.raw_decode(line)
        if end == len(line) - 1:
            return row
    return json.loads(line)
