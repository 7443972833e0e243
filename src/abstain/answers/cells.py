"""Cells of a column of answers: lists as they are, or as text in JSON or in Python's notation."""

import json
from ast import literal_eval
from collections.abc import Mapping
from math import isnan
from typing import Any

from abstain._errors import RowError
from abstain.answers.normal_form import as_plain, as_text

LONGEST_LITERAL = 1 << 20  # characters; JSON may be longer


def token_logprobs(cell: Any, row: int, /) -> tuple[list[float], list[float]]:
    """The log-probabilities of the tokens, and those of the likeliest first tokens where the cell has them."""
    cell = _value(cell, "logprobs", row)
    tokens = cell.get("content") if isinstance(cell, Mapping) else cell
    values = _list(tokens, "logprobs", row)
    numbers = [
        logprob(token.get("logprob") if isinstance(token, Mapping) else token, "logprobs", row) for token in values
    ]
    tops = [token.get("top_logprobs") for token in values[:1] if isinstance(token, Mapping)]
    return numbers, first_alternatives(tops or None, row, "logprobs")


def first_alternatives(cell: Any, row: int, name: str, /) -> list[float]:
    """The log-probabilities of the likeliest first tokens, from a list with an entry for each token."""
    positions = _list(_value(cell, name, row), name, row)
    first = positions[0] if positions else None
    if isinstance(first, Mapping):  # by token
        first = list(first.values())
    each = _list(first, name, row)
    return [logprob(value.get("logprob") if isinstance(value, Mapping) else value, name, row) for value in each]


def sample_texts(cell: Any, row: int, /) -> list[str]:
    """The samples as text, without those that are missing."""
    texts = map(as_text, _list(_value(cell, "samples", row), "samples", row))
    return [text for text in texts if text is not None]


def logprob(value: Any, name: str, row: int, /) -> float:
    """A log-probability, −inf allowed."""
    value = as_plain(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or isnan(value) or value > 0:
        advice = ". Give natural logs of probabilities; leave the whole list out where they are not known."
        raise RowError(f"`{name}` must be numbers of at most 0, got {value!r:.40} in row", row, advice)
    return float(value)


def _value(cell: Any, name: str, row: int) -> Any:
    """What a cell holds; None where it is empty."""
    if cell is None or (isinstance(cell, float) and isnan(cell)):
        return None
    if not isinstance(cell, str):
        return cell
    if not cell.strip():
        return None
    for read in (json.loads, literal_eval):
        try:
            if read is json.loads or len(cell) <= LONGEST_LITERAL:
                return read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise _not_a_list(cell, name, row)


def _list(value: Any, name: str, row: int) -> list[Any]:
    value = as_plain(value)
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise _not_a_list(value, name, row)
    return list(value)


def _not_a_list(value: Any, name: str, row: int) -> RowError:
    advice = ". Write a list in brackets, as in JSON, or rename the column if it is something else."
    return RowError(f"`{name}` must be a list, got {value!r:.40} in row", row, advice)
