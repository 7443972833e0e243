"""The files of a log: parts that are closed, named after the sequence number they begin with, and one that is open."""

import re
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import BinaryIO

from abstain.decision_log.record import HEAD, SEQUENCE, record_of

OPEN = "open.jsonl"
LINES = (".jsonl", ".ndjson")
DIGITS = 12


def open_part(log: Path, /) -> Path:
    """The file that lines are added to: the log itself, or a file in the folder of a Parquet log."""
    return log if log.suffix.lower() in LINES else log / OPEN


def closed_part(log: Path, first: int, /) -> Path:
    """The name of a part that begins with this sequence number.

    >>> closed_part(Path("a/decisions.jsonl"), 7).name, closed_part(Path("a/decisions.parquet"), 7).name
    ('decisions.000000000007.jsonl', '000000000007.parquet')
    """
    if log.suffix.lower() in LINES:
        return log.with_name(f"{log.stem}.{first:0{DIGITS}d}{log.suffix}")
    return log / f"{first:0{DIGITS}d}.parquet"


def closed_parts(log: Path, /) -> dict[int, Path]:
    """The closed parts, in order, by the sequence number each begins with."""
    in_lines = log.suffix.lower() in LINES
    folder, stem = (log.parent, re.escape(log.stem) + r"\.") if in_lines else (log, "")
    pattern = re.compile(rf"{stem}(\d{{{DIGITS}}}){re.escape(log.suffix if in_lines else '.parquet')}")
    names = [(match, file) for file in folder.iterdir() if (match := pattern.fullmatch(file.name))]
    return dict(sorted((int(match[1]), file) for match, file in names))


def is_log(path: Path, /) -> bool:
    """Whether a path is a log of decisions: JSON lines with sequence numbers, or the folder of a Parquet log.

    Parameters
    ----------
    path : Path
        A file or folder, which need not exist.

    Returns
    -------
    bool
    """
    if path.is_dir():
        return path.suffix.lower() == ".parquet" and ((path / OPEN).exists() or bool(closed_parts(path)))
    if path.suffix.lower() not in LINES or not path.is_file():
        return False
    with open(path, "rb") as stream:
        start = stream.read(len(HEAD))
    return start == HEAD or (not start and bool(closed_parts(path)))


def log_parts(log: Path, /, *, after: int = 0) -> Iterator[Path | list[str]]:
    """The closed parts of a log, in order, and the whole lines of its open part last.

    The log may be written to meanwhile. The open part is read first: if it is closed afterwards, it still is not read
    twice, and rows written later are left for the next reading. A last line that was cut off is left out.

    Parameters
    ----------
    log : Path
        The file of JSON lines, or the folder of a Parquet log.
    after : int
        Leave out parts without a sequence number above this one.

    Returns
    -------
    iterator of Path or list of str
    """
    file = open_part(log)
    lines = whole_lines(file) if file.exists() else []
    record = record_of(lines[0]) if lines else None
    first = inf if record is None else record[SEQUENCE]
    closed = {number: part for number, part in closed_parts(log).items() if number < first}
    for part, following in zip(closed.values(), [*closed, first][1:], strict=True):
        if following > after + 1:
            yield part
    yield lines


def whole_lines(file: Path, /) -> list[str]:
    """The lines of a part, without a last one that was cut off."""
    with open(file, "rb") as stream:
        contents = stream.read()
    return contents[: contents.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines(keepends=True)


def last_record_end(stream: BinaryIO, /) -> int:
    """Where the last whole record of a part ends: what follows was cut off while it was written."""
    contents = stream.read()
    end = contents.rfind(b"\n") + 1
    while end and record_of(contents[contents.rfind(b"\n", 0, end - 1) + 1 : end]) is None:
        end = contents.rfind(b"\n", 0, end - 1) + 1
    return end
