"""The softmax of logits, as far as its metrics need it, without rounding a small chance to nothing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import row_blocks
from abstain.kernels.row_sums import row_sums
from abstain.kernels.rows import LogitRows

Floats = NDArray[np.float64]


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
        found = np.empty(len(labels))
        for block in row_blocks(*self.logits.shape):
            z, own, first = self.logits[block], labels[block, None], self.prediction[block, None]
            behind = np.take_along_axis(z, own, axis=1).astype(np.float64) - np.take_along_axis(z, first, axis=1)
            found[block] = self.top[block] + behind[:, 0]
        return found


def softmax(logits: LogitRows, /) -> Softmax:
    """One pass over the logits, (n, K); −inf masks a class."""
    sums = row_sums(logits)
    if (bad := np.isnan(sums.top)).any():
        raise ValueError(
            f"`logits` must be finite, or -inf for a masked class, got {np.count_nonzero(bad)} rows that are not, "
            f"first row {int(np.argmax(bad))}. Leave these rows out."
        )
    others = np.exp(-np.logaddexp(0.0, -sums.tail))  # A/(1 + A) of A = e^L
    top = -np.logaddexp(0.0, sums.tail)
    return Softmax(logits, sums.prediction, top, others, others * np.exp(top) * sums.ratio)


def check_known(labels: NDArray[np.int64], n_classes: int, /) -> None:
    """Labels that all name one of the classes, which a probability can be looked up for."""
    bad = (labels < 0) | (labels >= n_classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"`labels` must be from 0 to {n_classes - 1} for a metric of the softmax, got {labels[row]} in "
            f"{np.count_nonzero(bad)} of {len(bad)} rows, first in row {row}. Leave out rows of unknown classes."
        )
