"""The squared error of the softmax."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.sums import exact_sum
from abstain.metrics.checks import check_labels, check_logits
from abstain.metrics.softmax import Softmax, check_known, softmax


def brier_score(logits: ArrayLike, labels: ArrayLike, /) -> float:
    """Mean over samples of Σ_k (p_k − 1[y = k])², from 0 to 2, of the softmax p (Brier, 1950).

    A proper score: it falls when the probabilities get sharper and when they get truer. Some libraries halve it for
    two classes. Of probabilities p take log p as logits.

    >>> brier_score(np.log([[0.5, 0.5], [0.25, 0.75]]), [0, 1]).__round__(4)
    0.3125
    """
    z = check_logits(logits)
    rows = brier_rows(softmax(z), check_labels(labels, len(z)))
    return exact_sum(rows) / len(rows)


def brier_rows(rows: Softmax, labels: NDArray[np.int64], /) -> NDArray[np.float64]:
    """The squared error of each sample, (n,)."""
    check_known(labels, rows.logits.shape[1])
    if_right = np.square(rows.rest) + rows.rest_squares
    if_wrong = np.exp(2 * rows.top) + rows.rest_squares + 1 - 2 * np.exp(rows.log_probability(labels))
    return np.where(labels == rows.prediction, if_right, if_wrong)
