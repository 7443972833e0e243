"""The softmax of logits, to the precision that its metrics need."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import row_blocks
from abstain._kernels.row_sums import LogitRows, row_sums


class Softmax(NamedTuple):
    """Of each row: arrays of shape (n,)."""

    logits: LogitRows
    """(n, K)"""
    prediction: NDArray[np.int64]
    top: Floats
    """log of the largest probability."""
    rest: Floats
    """1 − the largest probability, to its own relative precision."""
    rest_squares: Floats
    """Σ p² over the other classes."""

    def log_probability(self, labels: NDArray[np.int64], /) -> Floats:
        """The log of the probability of the class that each label names."""
        log_p = np.empty(len(labels))
        for block in row_blocks(*self.logits.shape):
            z, own, first = self.logits[block], labels[block, None], self.prediction[block, None]
            behind = np.take_along_axis(z, own, axis=1).astype(np.float64) - np.take_along_axis(z, first, axis=1)
            log_p[block] = self.top[block] + behind[:, 0]
        return log_p


def softmax(logits: LogitRows, /) -> Softmax:
    """One pass over the logits, (n, K); −inf masks a class."""
    sums = row_sums(logits)
    if (bad := np.isnan(sums.top)).any():
        raise InvalidInputError(
            f"`logits` must be finite, or -inf for a masked class, got {np.count_nonzero(bad)} rows that are not, "
            f"first row {int(np.argmax(bad))}. Leave these rows out."
        )
    others = np.exp(-np.logaddexp(0.0, -sums.tail))  # A/(1 + A) of A = e^L
    top = -np.logaddexp(0.0, sums.tail)
    return Softmax(logits, sums.prediction, top, others, others * np.exp(top) * sums.ratio)
