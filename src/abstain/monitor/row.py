"""What one row of a stream says: a decision, a label, or both."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, final

from abstain.arguments import written_number
from abstain.outputs.columns import TRUTH, text

SOURCES = {
    "error": ("error", "correct", "label", "prediction"),
    "accepted": ("accepted",),
    "confidence": ("confidence",),
}
"""What a monitor may count, and the columns it is read from."""
BESIDE = ("id", "domain", "group", "prediction", "reason")
"""Columns that tell rows apart, or that `abstain select` writes for people."""


@final
@dataclass(frozen=True)
class Row:
    """A row as the monitors see it; None where a value is not known."""

    accepted: bool | None = None
    confidence: float | None = None
    """NaN where the sample was not usable."""
    error: bool | None = None
    id: str | None = None
    domain: str | None = None
    prediction: str | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Any], /) -> Self:
        """From the values of its columns, as texts or as what they are."""
        return cls(
            _truth(columns.get("accepted")),
            _number(columns.get("confidence")),
            _error(columns),
            to_name(columns.get("id")),
            to_name(columns.get("domain", columns.get("group"))),
            to_name(columns.get("prediction")),
        )

    @property
    def is_decision(self) -> bool:
        """Whether it tells a decision: it has a confidence, or a verdict and no label."""
        return self.confidence is not None or (self.accepted is not None and self.error is None)


@final
@dataclass(frozen=True)
class Cluster:
    """Rows of one id, and what a monitor takes of them."""

    name: str
    rows: int
    values: tuple[float, ...]
    """Of the rows that it counts, in any order."""


def read_rows(
    batch: Iterable[Mapping[str, Any]],
    /,
    *,
    start: int,
    decided: Callable[[Row, Mapping[str, Any]], Row] = lambda row, _: row,
) -> list[Row]:
    """The rows of a batch whose first is number ``start``, each ``decided``; an error names the row."""
    rows = []
    for place, columns in enumerate(batch, start=start):
        try:
            rows.append(decided(Row.of(columns), columns))
        except ValueError as problem:
            raise ValueError(f"Row {place}: {problem}") from None
    return rows


def supplied(names: Iterable[str], /) -> set[str]:
    """What these columns can tell: error, accepted, confidence."""
    given = set(names)
    found = {"accepted", "confidence"} & given
    return found | {"error"} if {"error", "correct"} & given or {"label", "prediction"} <= given else found


def unused(names: Iterable[str], read: Iterable[str], /) -> list[str]:
    """The columns from which nothing is read, by who reads these of error, accepted and confidence."""
    used = {name for what in read for name in SOURCES[what]} | set(BESIDE)
    return [name for name in dict.fromkeys(names) if name not in used]


def _error(columns: Mapping[str, Any]) -> bool | None:
    """Whether the answer was wrong, by ``error``, ``correct``, or ``label`` and ``prediction``; None if not known."""
    if "error" in columns:
        return _truth(columns["error"])
    if "correct" in columns:
        correct = _truth(columns["correct"])
        return None if correct is None else not correct
    label, prediction = text(columns.get("label")), text(columns.get("prediction"))
    return None if label is None or prediction is None else label != prediction


def _truth(value: Any) -> bool | None:
    """True, False, or None where it is not known."""
    if value is None or value == "":
        return None
    if str(value).strip().lower() not in TRUTH:
        raise ValueError(
            f"`accepted`, `error` and `correct` must be true, false, yes, no, 1, 0 or empty, got {value!r}."
        )
    return bool(TRUTH[str(value).strip().lower()])


def _number(value: Any) -> float | None:
    """A confidence, NaN where the row was not usable, or None where there is none."""
    if value is None or value == "":
        return None
    try:
        return written_number(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"`confidence` must be a number or empty, got {value!r:.60}.") from None


def to_name(value: Any) -> str | None:
    """A name, the same for 7, 7.0 and "7"."""
    if value is None or value == "":
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
