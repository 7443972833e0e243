"""The log-loss of the softmax."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.sums import exact_sum
from abstain.metrics.checks import check_labels, check_logits
from abstain.metrics.softmax import Softmax, check_known, softmax


def log_loss(logits: ArrayLike, labels: ArrayLike, /) -> float:
    """Mean over samples of −log p_y of the softmax p: the negative log-likelihood, or cross-entropy, in nats.

    A proper score without an upper bound; nothing is clipped, so a true class of no chance is an error. Of
    probabilities p take log p as logits.

    >>> round(log_loss([[0.0, 0.0], [0.0, 900.0]], [0, 0]), 4)
    450.3466
    """
    z = check_logits(logits)
    rows = log_loss_rows(softmax(z), check_labels(labels, len(z)))
    return exact_sum(rows) / len(rows)


def log_loss_rows(rows: Softmax, labels: NDArray[np.int64], /) -> NDArray[np.float64]:
    """−log p_y of each sample, (n,)."""
    check_known(labels, rows.logits.shape[1])
    losses = -rows.log_probability(labels)
    if (bad := np.isinf(losses)).any():
        raise ValueError(
            f"`logits` must give the true class some chance, got none in {np.count_nonzero(bad)} of {len(bad)} rows, "
            f"first in row {int(np.argmax(bad))}. Its log-loss is infinite; smooth the probabilities, or use the Brier "
            "score."
        )
    return losses
