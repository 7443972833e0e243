"""A row of a stream: a decision, a label, or both; its columns, and what their cells mean."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

from abstain._arguments import DECIMAL_COMMA, written_number
from abstain._errors import InvalidInputError
from abstain.decision_log.record import COLUMNS as OF_LOG
from abstain.outputs.column_names import spelled
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
SCORED = ("confidence", "logit", "proba")
"""How columns of outputs begin from which a selector decides."""


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
        The sample's own name; 7, 7.0, "7" and "7.0" are the same id, since tables write it in each of these ways.
    domain, prediction : str, optional
        What a selector with several thresholds decides by.
    """

    accepted: bool | None = None
    confidence: float | None = None
    error: bool | None = None
    id: str | None = None
    domain: str | None = None
    prediction: str | None = None


def group_of(columns: Mapping[str, Any], group: str | None, /) -> Any:
    """The group: the column ``group`` of the selector, or else ``group``, or else ``domain``."""
    return next((columns[name] for name in (group, "group", "domain") if name is not None and name in columns), None)


def supplied(names: Iterable[str], /) -> set[str]:
    """Which of error, accepted and confidence these columns contain."""
    given = set(names)
    values = {"accepted", "confidence"} & given
    return values | {"error"} if {"error", "correct", "loss"} & given or {"label", "prediction"} <= given else values


def is_scored(names: Iterable[str], /) -> bool:
    """Whether there are columns from which a selector decides."""
    return any(name.startswith(SCORED) for name in spelled(names).values())


def unused(names: Iterable[str], read: Iterable[str], /, *, group: str | None = None) -> list[str]:
    """The columns that are not needed to ``read`` these of error, accepted and confidence, and the group."""
    used = {name for what in read for name in SOURCES[what]} | {*NOT_COUNTED, group}
    return [name for name in dict.fromkeys(names) if name not in used]


def truth(value: Any, /) -> bool | None:
    """True, False, or None where it is not known."""
    if value is None or value == "":
        return None
    if str(value).strip().lower() not in TRUTH:
        raise InvalidInputError(
            f"`accepted`, `error` and `correct` must be true, false, yes, no, 1, 0 or empty, got {value!r:.60}."
        )
    return bool(TRUTH[str(value).strip().lower()])


def drawn_error(loss: Any, name: Any, /) -> bool | None:
    """An error, drawn with the probability of the loss by a hash of loss and id; None where the loss is not known.

    So the rate of errors is the mean loss, and the monitors of errors are valid for losses.
    """
    if loss is None or str(loss).strip() == "":
        return None
    try:
        chance = float(loss)
    except (TypeError, ValueError):
        chance = -1.0
    if not 0 <= chance <= 1:
        raise InvalidInputError(f"`loss` must be a number from 0 to 1 or empty, got {loss!r:.60}.")
    if 0 < chance < 1 and not text(name):
        raise InvalidInputError(
            f"`loss` must come with an `id`, got {chance:g} without one. Rows with the same loss would count alike."
        )
    digest = hashlib.sha256(f"abstain coin of a loss {text(name)} {chance!r}".encode()).digest()
    return int.from_bytes(digest[:7]) < chance * 256**7


def number(value: Any, /) -> float | None:
    """A confidence, NaN for a non-finite row, or None where there is none."""
    if value is None or value == "":
        return None
    try:
        return written_number(value)
    except (TypeError, ValueError, OverflowError) as error:
        why = f", {DECIMAL_COMMA}" if DECIMAL_COMMA in str(error) else "."
        raise InvalidInputError(f"`confidence` must be a number or empty, got {value!r:.60}{why}") from None
