"""Rows of a stream as columns, as compiled code takes them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import EXACT
from abstain._kernels.cells import LEFT, READ
from abstain._kernels.decision_tables import decision_digests
from abstain.monitor.row import AUDITED, Row, group_of, number, tossed, truth
from abstain.monitor.text_cells import UNKNOWN, TextCells
from abstain.outputs.columns import text

Ints = NDArray[np.int64]
Names = list[str | None] | TextCells
"""Names as `text` writes them."""


@final
@dataclass(frozen=True, eq=False)
class StreamRows:
    """Columns of `Row`; −1 where a verdict or an error is not known."""

    accepted: NDArray[np.int8]
    confidence: NDArray[np.float64]
    """NaN where there is none, and for non-finite rows."""
    has_confidence: NDArray[np.bool_]
    error: NDArray[np.int8]
    ids: Names
    domains: Names
    predictions: Names
    scored: NDArray[np.bool_]
    """Whether it has columns from which a selector decides, but none for its verdict."""

    def __len__(self) -> int:
        return len(self.accepted)

    def __getitem__(self, rows: slice) -> "StreamRows":
        return StreamRows(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def of(cls, rows: Sequence[Row], /, *, scored: Sequence[bool] | None = None) -> Self:
        """From single rows."""
        n, has = len(rows), np.array([row.confidence is not None for row in rows], dtype=bool)
        return cls(
            np.array([UNKNOWN if row.accepted is None else row.accepted for row in rows], dtype=np.int8),
            np.array([np.nan if row.confidence is None else row.confidence for row in rows], dtype=np.float64),
            has,
            np.array([UNKNOWN if row.error is None else row.error for row in rows], dtype=np.int8),
            [text(row.id) for row in rows],
            [text(row.domain) for row in rows],
            [text(row.prediction) for row in rows],
            np.zeros(n, dtype=bool) if scored is None else np.array(scored, dtype=bool),
        )

    @classmethod
    def of_columns(cls, columns: dict[str, Any], n: int, /, *, scored: bool, group: str | None = None) -> Self:
        """From columns of equal length: lists, cells or Polars series; an error is that of the first row that has one.

        Where decisions have an audit (``review``), labels of accepted rows that were not drawn count as unknown: why
        they came may depend on the outcome.
        """
        confidence, has = _numbers(columns.get("confidence"), n)
        accepted, errors = _truths(columns.get("accepted"), n), _errors(columns, n)
        if "review" in columns:
            drawn = np.array([value == AUDITED for value in _values(columns["review"])], dtype=bool)
            errors = np.where((accepted != 0) & ~drawn, UNKNOWN, errors).astype(np.int8)
        return cls(
            accepted,
            confidence,
            has,
            errors,
            _names(columns.get("id"), n),
            _names(group_of(columns, group), n),
            _names(columns.get("prediction"), n),
            np.full(n, scored and "accepted" not in columns),
        )

    def keys(self) -> NDArray[np.int64]:
        """(n,) of the ids, 0 where there is none."""
        return keys_of(self.ids)

    def decisions(self) -> NDArray[np.int64]:
        """(n,) digests of confidence and domain, 0 where there is no confidence."""
        digests = np.empty(len(self), dtype=np.int64)
        values = np.where(np.isnan(self.confidence), np.nan, self.confidence)  # one NaN for all
        decision_digests(values.view(np.int64), keys_of(self.domains), digests)
        return np.where(self.has_confidence, digests, 0)


def keys_of(names: Names, /) -> Ints:
    """(n,) 64-bit digests of names, 0 where there is none."""
    if isinstance(names, TextCells):
        return names.keys()
    if names.count(None) == len(names):
        return np.zeros(len(names), dtype=np.int64)
    return TextCells.of_texts([name or "" for name in names]).keys()


def distinct(names: Names, /) -> tuple[list[str | None], Ints]:
    """The distinct names in the order they come, and the number (n,) of each row's."""
    if isinstance(names, TextCells):
        _, first, number = np.unique(names.keys(), return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        return [names[k] for k in first[order].tolist()], rank[number]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return list(numbers), np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))


def _is_boolean(column: Any) -> bool:
    return str(getattr(column, "dtype", "")) == "Boolean"


def _values(column: Any) -> list[Any]:
    return column.to_list() if hasattr(column, "to_list") else list(column)


def _truths(column: Any, n: int) -> NDArray[np.int8]:
    """1, 0, or −1 where it is not known."""
    if column is None:
        return np.full(n, UNKNOWN, dtype=np.int8)
    if _is_boolean(column):
        return np.asarray(column.cast(int).fill_null(UNKNOWN).to_numpy()).astype(np.int8)
    if isinstance(column, TextCells) and (read := column.truths()) is not None:
        return read
    known: dict[Any, int] = {}
    values = _values(column)
    if set(map(type, values)) - {type(None)} in ({str}, {int}, {bool}):  # others may be equal and not mean the same
        for value in set(values):
            try:
                known[value] = _code(truth(value))
            except ValueError:
                break
        else:
            return np.fromiter(map(known.__getitem__, values), np.int8, n)
    return np.array([_code(at(k, truth, value)) for k, value in enumerate(values)], dtype=np.int8)


def _code(value: bool | None) -> int:
    return UNKNOWN if value is None else int(value)


def _numbers(column: Any, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers, and whether there is one."""
    if column is None:
        return np.full(n, np.nan), np.zeros(n, dtype=bool)
    if str(getattr(column, "dtype", "")) in ("Float64", "Float32"):
        has = np.asarray(column.is_not_null().to_numpy())
        return np.where(has, np.asarray(column.to_numpy(), dtype=np.float64), np.nan), has
    if isinstance(column, TextCells):
        numbers, kinds = column.numbers()
        for k in np.flatnonzero(kinds == LEFT).tolist():
            value = at(k, number, column[k])
            numbers[k], kinds[k] = np.nan if value is None else value, kinds[k] if value is None else READ
        return numbers, kinds == READ
    values = _values(column)
    quick = _plain_numbers(values)
    if quick is not None:
        return quick, np.ones(n, dtype=bool)
    parsed = [at(k, number, value) for k, value in enumerate(values)]
    has = np.array([value is not None for value in parsed], dtype=bool)
    return np.array([np.nan if value is None else value for value in parsed], dtype=np.float64), has


def _plain_numbers(values: list[Any]) -> NDArray[np.float64] | None:
    """All at once if `float` reads them; None if each must be parsed."""
    kinds = set(map(type, values))
    if str in kinds:
        joined = "".join(values) if kinds == {str} else "_"
        if "_" in joined or not joined.isascii():
            return None
    try:
        numbers = np.fromiter(map(float, values), np.float64, len(values))
    except (TypeError, ValueError, OverflowError):
        return None
    return None if (np.isfinite(numbers) & (np.abs(numbers) >= EXACT)).any() else numbers


def _errors(columns: dict[str, Any], n: int) -> NDArray[np.int8]:
    """Whether the answer was wrong, by ``error``, ``correct``, ``loss``, or ``label`` and ``prediction``."""
    if "error" in columns:
        return _truths(columns["error"], n)
    if "correct" in columns:
        correct = _truths(columns["correct"], n)
        return np.where(correct == UNKNOWN, UNKNOWN, 1 - correct).astype(np.int8)
    if "loss" in columns:
        ids = _values(columns["id"]) if "id" in columns else [None] * n
        losses = enumerate(zip(_values(columns["loss"]), ids, strict=True))
        coins = [at(row, lambda pair: tossed(*pair), pair) for row, pair in losses]
        return np.array([UNKNOWN if coin is None else coin for coin in coins], dtype=np.int8)
    if not {"label", "prediction"} <= columns.keys():
        return np.full(n, UNKNOWN, dtype=np.int8)
    label, given = (keys_of(_names(columns[name], n)) for name in ("label", "prediction"))
    return np.where((label == 0) | (given == 0), UNKNOWN, label != given).astype(np.int8)


def _names(column: Any, n: int) -> Names:
    if column is None:
        return [None] * n
    cells = column if isinstance(column, TextCells) else TextCells.of(column)
    if cells is not None and cells.are_plain:
        return cells
    return list(map(text, _values(column)))


def at(row: int, read: Any, value: Any, /) -> Any:
    """Read a value; an error carries the index of its row."""
    try:
        return read(value)
    except ValueError as problem:
        problem.row = row  # type: ignore[attr-defined]
        raise
