"""Every signal that columns of answers allow, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import nan
from operator import eq
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, foreign
from abstain.answers.agreement import Normalize, Same, agreement
from abstain.answers.cells import first_alternatives, sample_texts, token_logprobs
from abstain.answers.normal_form import as_text, normal_form
from abstain.answers.semantic_entropy import neg_semantic_entropy
from abstain.answers.token_logprobs import first_token_margin, mean_logprob, min_logprob, neg_perplexity, sum_logprob


@final
@dataclass(frozen=True, kw_only=True)
class AnswerRow:
    """What is known of an answer; nothing where a list is empty."""

    answer: str | None = None
    """Normalized, as the samples are; None where it is not known."""
    samples: tuple[str, ...] = ()
    logprobs: tuple[float, ...] = ()
    alternatives: tuple[float, ...] = ()
    """Log-probabilities of the likeliest first tokens."""
    equivalent: Same = eq


@final
@dataclass(frozen=True)
class Signal:
    """A confidence of an answer by itself, without other answers of the table.

    Attributes
    ----------
    name : str
        What people type, and the column of the result.
    needs : str
        The column it is computed from.
    formula : function
        Higher is more trusted; NaN where something is missing.
    summary : str
        One sentence.
    """

    name: str
    needs: str
    formula: Callable[[AnswerRow], float]
    summary: str


def _agreement(row: AnswerRow) -> float:
    if row.answer is None:
        return nan
    return agreement(row.answer, row.samples, normalize=str, equivalent=row.equivalent)


def _entropy(row: AnswerRow) -> float:
    answers = row.samples if row.answer is None or not row.samples else (row.answer, *row.samples)
    return neg_semantic_entropy(answers, normalize=str, equivalent=row.equivalent)


def _margin(row: AnswerRow) -> float:
    return first_token_margin(row.logprobs[0], row.alternatives) if row.logprobs else nan


_ALL = (
    Signal("mean_logprob", "logprobs", lambda row: mean_logprob(row.logprobs), "mean log-probability of the tokens"),
    Signal("min_logprob", "logprobs", lambda row: min_logprob(row.logprobs), "that of the least likely token"),
    Signal("sum_logprob", "logprobs", lambda row: sum_logprob(row.logprobs), "log-probability of the whole answer"),
    Signal("neg_perplexity", "logprobs", lambda row: neg_perplexity(row.logprobs), "negative perplexity"),
    Signal("first_token_margin", "top_logprobs", _margin, "first token against the likeliest other"),
    Signal("agreement", "samples", _agreement, "share of samples that agree with the answer"),
    Signal("neg_semantic_entropy", "samples", _entropy, "negative entropy of the meanings of answer and samples"),
)
SIGNALS: dict[str, Signal] = {signal.name: signal for signal in _ALL}
"""The signals by name; a new one is a function and a line here."""


def signals(
    *,
    answers: Sequence[Any] | None = None,
    samples: Sequence[Any] | None = None,
    logprobs: Sequence[Any] | None = None,
    top_logprobs: Sequence[Any] | None = None,
    normalize: Normalize = normal_form,
    equivalent: Same = eq,
) -> dict[str, NDArray[np.float64]]:
    """Confidences by name from columns of answers, for `Outputs(confidences=…)`.

    A value is NaN where a row lacks what it needs; the score ``learned`` takes such rows. A log-probability above 0 or
    NaN is an error.

    Parameters
    ----------
    answers : sequence, optional
        (n,) what the model answered, text or any JSON value; None where it is not known. Without this column the first
        of the samples is the answer.
    samples : sequence of lists, optional
        (n,) further answers to the same question.
    logprobs : sequence of lists, optional
        (n,) log-probabilities of the tokens of each answer: numbers, or objects with ``logprob`` and perhaps
        ``top_logprobs``, as in the answers of OpenAI's interface.
    top_logprobs : sequence of lists, optional
        (n,) for each token a list of the log-probabilities of the likeliest tokens, or an object with these by token;
        only that of the first token is used, and it needs ``logprobs``.
    normalize : callable
        Applied to every answer before answers are compared; ``str`` leaves them as they are.
    equivalent : callable
        Whether two normalized answers mean the same.

    Returns
    -------
    dict of str to array (n,)
        The signals of `SIGNALS` whose columns are given.

    Raises
    ------
    InvalidInputError
        With the first row that is wrong.

    Examples
    --------
    >>> signals(answers=["Paris", "Rome"], samples=[["paris", "Lyon"], []])["agreement"]
    array([0.5, nan])
    """
    tokens = [token_logprobs(cell, row) for row, cell in _numbered(logprobs)]
    tops = [first_alternatives(cell, row, "top_logprobs") for row, cell in _numbered(top_logprobs)]
    if logprobs is not None and top_logprobs is None and any(alternatives for _, alternatives in tokens):
        tops = [alternatives for _, alternatives in tokens]
    texts = [sample_texts(cell, row) for row, cell in _numbered(samples)]
    columns: dict[str, Sequence[Any]] = {
        "answers": [cell for _, cell in _numbered(answers)],
        "samples": texts,
        "logprobs": [values for values, _ in tokens],
        "top_logprobs": tops if logprobs is not None else (),
    }
    n = _length(columns)
    with foreign("`normalize` and `equivalent` must take the answers"):
        rows = [
            _row({name: cells[k] for name, cells in columns.items() if cells}, normalize, equivalent) for k in range(n)
        ]
        return {
            name: np.array([signal.formula(row) for row in rows], dtype=np.float64)
            for name, signal in SIGNALS.items()
            if columns[signal.needs]
        }


def _numbered(column: Iterable[Any] | None) -> Iterator[tuple[int, Any]]:
    return enumerate(() if column is None else column)


def _length(columns: dict[str, Sequence[Any]]) -> int:
    sizes = {name: len(cells) for name, cells in columns.items() if cells}
    if not sizes.keys() - {"answers"}:
        raise InvalidInputError("`logprobs` or `samples` must be given, got neither.")
    if len(set(sizes.values())) != 1:
        raise InvalidInputError(f"`answers` and other columns must have one length, got {sizes}.")
    return next(iter(sizes.values()))


def _row(cells: dict[str, Any], normalize: Normalize, equivalent: Same) -> AnswerRow:
    samples: list[str] = cells.get("samples", [])
    answer = as_text(cells["answers"]) if "answers" in cells else None
    if "answers" not in cells and samples:
        answer, *samples = samples
    return AnswerRow(
        answer=None if answer is None else normalize(answer),
        samples=tuple(map(normalize, samples)),
        logprobs=tuple(cells.get("logprobs", ())),
        alternatives=tuple(cells.get("top_logprobs", ())),
        equivalent=equivalent,
    )
