"""Rows of a stream as columns, as compiled code takes them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import EXACT
from abstain._arrays import Ints
from abstain._kernels.cells import EMPTY, LEFT, READ
from abstain._kernels.decision_tables import decision_digests
from abstain.decision_log.record import AUDITED
from abstain.monitor.row import Row, drawn_error, group_of, is_scored, number, truth
from abstain.monitor.text_cells import UNKNOWN, TextCells
from abstain.outputs.columns import text

Columns = dict[str, Any]
"""Lists, cells or Polars series, by name."""
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
    def of(cls, rows: Sequence[Row], /) -> Self:
        """From single rows."""
        return cls.of_columns({field.name: [getattr(row, field.name) for row in rows] for field in fields(Row)})

    @classmethod
    def of_columns(cls, columns: Columns, /, *, group: str | None = None) -> Self:
        """From columns of equal length: lists, cells or Polars series; an error carries the index of its row.

        ``group`` is the column that names the groups, if it is not ``group`` or ``domain``. Where decisions have an
        audit (``review``), labels of accepted rows that were not drawn count as unknown, since whether these come may
        depend on the outcome.
        """
        n = len(next(iter(columns.values()), ()))
        confidence, has = _numbers(columns.get("confidence"), n)
        accepted, counts = _truths(columns.get("accepted"), n), np.ones(n, dtype=bool)
        if "review" in columns:  # labels of accepted rows that were not drawn are not read
            drawn = np.array([value == AUDITED for value in _values(columns["review"])], dtype=bool)
            counts = drawn | (accepted == 0)
        errors = np.where(counts, _errors(columns, n, counts), UNKNOWN).astype(np.int8)
        return cls(
            accepted,
            confidence,
            has,
            errors,
            _names(columns.get("id"), n),
            _names(group_of(columns, group), n),
            _names(columns.get("prediction"), n),
            np.full(n, is_scored(columns) and "accepted" not in columns),
        )

    @classmethod
    def joined(cls, parts: Sequence["StreamRows"], indices: Sequence[NDArray[np.intp]], /) -> "StreamRows":
        """Rows of several parts in one order: ``indices`` are those of each part's rows in it."""
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(np.concatenate(indices))
        columns = ([getattr(part, field.name) for part in parts] for field in fields(cls))
        return cls(*(_joined(column, order) for column in columns))

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


def _joined(parts: list[Any], order: NDArray[np.intp]) -> Any:
    """Arrays or names after each other, in this order."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)[order]
    names = [name for part in parts for name in part]
    return [names[k] for k in order.tolist()]


def _values(column: Any) -> list[Any]:
    return column.to_list() if hasattr(column, "to_list") else list(column)


def _truths(column: Any, n: int) -> NDArray[np.int8]:
    """1, 0, or −1 where it is not known."""
    if column is None:
        return np.full(n, UNKNOWN, dtype=np.int8)
    if str(getattr(column, "dtype", "")) == "Boolean":
        return np.asarray(column.cast(int).fill_null(UNKNOWN).to_numpy()).astype(np.int8)
    cells = TextCells.of(column)
    if cells is not None and (codes := cells.truths()) is not None:
        return codes
    truths = _values(column)
    if not set(map(type, truths)) <= {bool, NoneType}:
        truths = [at(k, truth, value) for k, value in enumerate(truths)]
    return np.array([UNKNOWN if value is None else value for value in truths], dtype=np.int8)


def _numbers(column: Any, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers, and whether there is one."""
    if column is None:
        return np.full(n, np.nan), np.zeros(n, dtype=bool)
    if str(getattr(column, "dtype", "")) in ("Float64", "Float32"):
        has = np.asarray(column.is_not_null().to_numpy())
        return np.where(has, np.asarray(column.to_numpy(), dtype=np.float64), np.nan), has
    cells = TextCells.of(column)
    if cells is not None:
        column = cells
        numbers, kinds = cells.numbers()
    elif set(map(type, column)) == {float}:
        numbers = np.array(column, dtype=np.float64)
        kinds = np.where(np.abs(numbers) < EXACT, READ, LEFT)
    else:
        column = _values(column)
        numbers, kinds = np.full(n, np.nan), np.full(n, LEFT)
    for k in np.flatnonzero(kinds == LEFT).tolist():
        value = at(k, number, column[k])
        numbers[k], kinds[k] = np.nan if value is None else value, EMPTY if value is None else READ
    return numbers, kinds == READ


def _errors(columns: Columns, n: int, counts: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Whether the answer was wrong, by ``error``, ``correct``, ``loss``, or ``label`` and ``prediction``.

    Losses of rows that do not count are not read.
    """
    if "error" in columns:
        return _truths(columns["error"], n)
    if "correct" in columns:
        correct = _truths(columns["correct"], n)
        return np.where(correct == UNKNOWN, UNKNOWN, 1 - correct).astype(np.int8)
    if "loss" in columns:
        ids = _values(columns["id"]) if "id" in columns else [None] * n
        losses = enumerate(zip(_values(columns["loss"]), ids, strict=True))
        coins = [at(row, lambda pair: drawn_error(*pair), pair) if counts[row] else None for row, pair in losses]
        return np.array([UNKNOWN if coin is None else coin for coin in coins], dtype=np.int8)
    if not {"label", "prediction"} <= columns.keys():
        return np.full(n, UNKNOWN, dtype=np.int8)
    label, given = (keys_of(_names(columns[name], n)) for name in ("label", "prediction"))
    return np.where((label == 0) | (given == 0), UNKNOWN, label != given).astype(np.int8)


def _names(column: Any, n: int) -> Names:
    if column is None:
        return [None] * n
    cells = TextCells.of(column)
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
