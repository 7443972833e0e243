"""A row of a stream: a decision, a label, or both."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, final

from abstain._arguments import DECIMAL_COMMA, written_number
from abstain._errors import InvalidInputError
from abstain.decision_log.record import COLUMNS as OF_LOG
from abstain.outputs.columns import TRUTH, text

SOURCES = {
    "error": ("error", "correct", "loss", "label", "prediction"),
    "accepted": ("accepted",),
    "confidence": ("confidence",),
}
"""What a monitor may count, and the columns it is read from."""
NOT_COUNTED = (
    "id",
    "domain",
    "group",
    "stage",
    "answered_by",
    "prediction",
    "reason",
    "review",
    "need",
    "inclusion",
    "candidates",
    *OF_LOG,
)
"""Columns that identify rows, or that `abstain select` and logs have for people."""
AUDITED = "audit"
"""What the column review has for accepted rows that were drawn for a label."""


@final
@dataclass(frozen=True)
class Row:
    """A row as the monitors see it; None where a value is unknown.

    Parameters
    ----------
    accepted : bool, optional
        The decision.
    confidence : float, optional
        NaN for a non-finite row.
    error : bool, optional
        Whether the prediction is wrong, once it is known.
    id : str, optional
        The sample's own name; 7, 7.0, "7" and "7.0" are the same id.
    domain, prediction : str, optional
        What a selector with several thresholds decides by.
    """

    accepted: bool | None = None
    confidence: float | None = None
    """NaN for a non-finite row."""
    error: bool | None = None
    id: str | None = None
    """The sample's own name; 7, 7.0, "7" and "7.0" are one, as tables write the same id in each of these ways."""
    domain: str | None = None
    prediction: str | None = None

    @classmethod
    def of(cls, columns: Mapping[str, Any], /, *, group: str | None = None) -> Self:
        """From the values of its columns, as texts or as what they are; ``group`` is that of `group_of`.

        Where decisions have an audit (``review``), the label of an accepted row that was not drawn counts as unknown:
        why it came may depend on the outcome.
        """
        accepted, is_drawn = truth(columns.get("accepted")), columns.get("review", AUDITED) == AUDITED
        return cls(
            accepted,
            number(columns.get("confidence")),
            _error(columns) if is_drawn or accepted is False else None,
            text(columns.get("id")),
            text(group_of(columns, group)),
            text(columns.get("prediction")),
        )

    @property
    def is_decision(self) -> bool:
        """Whether it is a decision: it has a confidence, or a verdict and no label."""
        return self.confidence is not None or (self.accepted is not None and self.error is None)


def group_of(columns: Mapping[str, Any], group: str | None, /) -> Any:
    """The group: the column ``group`` of the selector, or else ``group``, or else ``domain``."""
    return next((columns[name] for name in (group, "group", "domain") if name is not None and name in columns), None)


def supplied(names: Iterable[str], /) -> set[str]:
    """Which of error, accepted and confidence these columns contain."""
    given = set(names)
    values = {"accepted", "confidence"} & given
    return values | {"error"} if {"error", "correct", "loss"} & given or {"label", "prediction"} <= given else values


def unused(names: Iterable[str], read: Iterable[str], /, *, group: str | None = None) -> list[str]:
    """The columns that are not needed to ``read`` these of error, accepted and confidence, and the group."""
    used = {name for what in read for name in SOURCES[what]} | {*NOT_COUNTED, group}
    return [name for name in dict.fromkeys(names) if name not in used]


def _error(columns: Mapping[str, Any]) -> bool | None:
    """Whether the answer was wrong, by ``error``, ``correct``, or ``label`` and ``prediction``; None if not known."""
    if "error" in columns:
        return truth(columns["error"])
    if "correct" in columns:
        correct = truth(columns["correct"])
        return None if correct is None else not correct
    if "loss" in columns:
        return tossed(columns["loss"], columns.get("id"))
    label, prediction = text(columns.get("label")), text(columns.get("prediction"))
    return None if label is None or prediction is None else label != prediction


def truth(value: Any, /) -> bool | None:
    """True, False, or None where it is not known."""
    if value is None or value == "":
        return None
    if str(value).strip().lower() not in TRUTH:
        raise InvalidInputError(
            f"`accepted`, `error` and `correct` must be true, false, yes, no, 1, 0 or empty, got {value!r:.60}."
        )
    return bool(TRUTH[str(value).strip().lower()])


def tossed(value: Any, name: Any, /) -> bool | None:
    """An error with the probability of a loss, by a hash of the loss and the id; None where the loss is not known.

    So errors come at the rate of the mean loss, and the monitors of errors hold for losses.
    """
    if value is None or str(value).strip() == "":
        return None
    try:
        loss = float(value)
    except (TypeError, ValueError):
        loss = -1.0
    if not 0 <= loss <= 1:
        raise InvalidInputError(f"`loss` must be a number from 0 to 1 or empty, got {value!r:.60}.")
    if 0 < loss < 1 and not text(name):
        raise InvalidInputError(
            f"`loss` must come with an `id`, got {loss:g} without one. Rows with the same loss would count alike."
        )
    digest = hashlib.sha256(f"abstain coin of a loss {text(name)} {loss!r}".encode()).digest()
    return int.from_bytes(digest[:7]) < loss * 256**7


def number(value: Any, /) -> float | None:
    """A confidence, NaN for a non-finite row, or None where there is none."""
    if value is None or value == "":
        return None
    try:
        return written_number(value)
    except (TypeError, ValueError, OverflowError) as error:
        why = f", {DECIMAL_COMMA}" if DECIMAL_COMMA in str(error) else "."
        raise InvalidInputError(f"`confidence` must be a number or empty, got {value!r:.60}{why}") from None
