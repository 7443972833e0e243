"""A classifier behind a prompt: log-probabilities of labels as logits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, RowError, foreign
from abstain.answers.agreement import Normalize
from abstain.answers.cells import logprob
from abstain.answers.normal_form import normal_form


def label_logits(
    logprobs: Sequence[Mapping[str, float] | Sequence[Mapping[str, Any]]],
    /,
    *,
    class_names: Sequence[str],
    normalize: Normalize = normal_form,
) -> NDArray[np.float64]:
    """Logits for `Outputs(logits=…)` from the log-probabilities that a model gives to labels.

    A language model or CLIP as zero-shot classifier: log-probabilities of labels are logits up to a constant per row.
    They are scaled to sum to one over the labels, so that scores which use the size of logits are left out. Tokens of
    one label, such as ``Yes`` and ``␣yes``, add up; other tokens are not used; a label that a list of the likeliest
    tokens lacks has −inf, which masks the class.

    Parameters
    ----------
    logprobs : sequence
        (n,) log-probabilities by label or token, or lists of objects with ``token`` and ``logprob``.
    class_names : sequence of str
        The K labels.
    normalize : callable
        Applied to tokens and labels before they are compared.

    Returns
    -------
    array (n, K)
        Log-probabilities; all −inf where no label is listed, a row that `Outputs` refuses, or rejects with
        ``nonfinite="reject"``.

    Raises
    ------
    InvalidInputError
        For a log-probability above 0 or NaN, and if two labels are the same after ``normalize``.

    Examples
    --------
    >>> rows = [{"Yes": -0.5, " yes": -3.0, "Maybe": -1.5}, {"No": -0.1, "Yes": -2.5}]
    >>> np.exp(label_logits(rows, class_names=("yes", "no"))).round(2)
    array([[1.  , 0.  ],
           [0.08, 0.92]])
    """
    with foreign("`normalize` must take the labels"):
        columns = {normalize(name): number for number, name in enumerate(class_names)}
        if len(columns) != len(class_names) or len(columns) < 2:
            raise InvalidInputError(
                f"`class_names` must be at least 2 labels, distinct after `normalize`, got {list(class_names)!r:.60}."
            )
        logits = np.full((len(logprobs), len(columns)), -np.inf)
        for row, listed in enumerate(logprobs):
            for token, value in _pairs(listed, row):
                column = columns.get(normalize(token))
                if column is not None:
                    logits[row, column] = np.logaddexp(logits[row, column], logprob(value, "logprobs", row))
    total = np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return logits - np.where(np.isfinite(total), total, 0.0)


def _pairs(listed: Any, row: int) -> list[tuple[str, Any]]:
    """Tokens and values of a row."""
    if isinstance(listed, Mapping):
        return list(listed.items())
    try:
        return [(each["token"], each["logprob"]) for each in listed]
    except (TypeError, KeyError):
        rule = "`logprobs` must be log-probabilities by label, or lists of objects with token and logprob, got"
        raise RowError(f"{rule} {listed!r:.40} in row", row) from None
