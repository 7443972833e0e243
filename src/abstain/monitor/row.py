"""What one row of a stream says: a decision, a label, or both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

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
    """The sample's own name; 7, 7.0, "7" and "7.0" are one, as tables write the same id in each of these ways."""
    domain: str | None = None
    prediction: str | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Any], /, *, group: str | None = None) -> Self:
        """From the values of its columns, as texts or as what they are; ``group`` is that of `group_of`."""
        return cls(
            truth(columns.get("accepted")),
            number(columns.get("confidence")),
            _error(columns),
            text(columns.get("id")),
            text(group_of(columns, group)),
            text(columns.get("prediction")),
        )

    @property
    def is_decision(self) -> bool:
        """Whether it tells a decision: it has a confidence, or a verdict and no label."""
        return self.confidence is not None or (self.accepted is not None and self.error is None)


@final
@dataclass(frozen=True, eq=False)
class Clusters:
    """Rows of one id each, and what a monitor takes of them."""

    names: Sequence[str]
    rows: NDArray[np.int64]
    """(n,) how many rows each has."""
    values: NDArray[np.float64]
    """Of the rows that the monitor counts, in any order within a cluster, cluster after cluster."""
    ends: NDArray[np.int64]
    """(n,) where those of each cluster end."""

    @classmethod
    def one(cls, name: str, rows: int, values: Sequence[float], /) -> Self:
        """A single cluster."""
        return cls([name], np.array([rows]), np.array(values, dtype=np.float64), np.array([len(values)]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(n,) rows that are counted."""
        return np.diff(self.ends, prepend=0)

    def sums(self) -> NDArray[np.float64]:
        """(n,) of the values."""
        cluster = np.repeat(np.arange(len(self.ends)), self.sizes)
        return np.bincount(cluster, self.values, minlength=len(self.ends)).astype(np.float64)


def group_of(columns: Mapping[str, Any], group: str | None, /) -> Any:
    """What tells groups: the column ``group`` of the selector, or else ``group``, or else ``domain``."""
    return next((columns[name] for name in (group, "group", "domain") if name is not None and name in columns), None)


def supplied(names: Iterable[str], /) -> set[str]:
    """What these columns can tell: error, accepted, confidence."""
    given = set(names)
    found = {"accepted", "confidence"} & given
    return found | {"error"} if {"error", "correct"} & given or {"label", "prediction"} <= given else found


def unused(names: Iterable[str], read: Iterable[str], /, *, group: str | None = None) -> list[str]:
    """The columns from which nothing is read, by who reads these of error, accepted and confidence, and the group."""
    used = {name for what in read for name in SOURCES[what]} | {*BESIDE, group}
    return [name for name in dict.fromkeys(names) if name not in used]


def _error(columns: Mapping[str, Any]) -> bool | None:
    """Whether the answer was wrong, by ``error``, ``correct``, or ``label`` and ``prediction``; None if not known."""
    if "error" in columns:
        return truth(columns["error"])
    if "correct" in columns:
        correct = truth(columns["correct"])
        return None if correct is None else not correct
    label, prediction = text(columns.get("label")), text(columns.get("prediction"))
    return None if label is None or prediction is None else label != prediction


def truth(value: Any, /) -> bool | None:
    """True, False, or None where it is not known."""
    if value is None or value == "":
        return None
    if str(value).strip().lower() not in TRUTH:
        raise ValueError(
            f"`accepted`, `error` and `correct` must be true, false, yes, no, 1, 0 or empty, got {value!r:.60}."
        )
    return bool(TRUTH[str(value).strip().lower()])


def number(value: Any, /) -> float | None:
    """A confidence, NaN where the row was not usable, or None where there is none."""
    if value is None or value == "":
        return None
    try:
        return written_number(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"`confidence` must be a number or empty, got {value!r:.60}.") from None
