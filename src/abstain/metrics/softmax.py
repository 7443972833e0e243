"""Metrics of the softmax itself: Brier score, log-loss and calibration error."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_at_least
from abstain._errors import InvalidInputError
from abstain._kernels.blocks import row_blocks
from abstain._kernels.ranking import order_rows
from abstain._kernels.row_sums import LogitRows, row_sums
from abstain._kernels.sums import exact_sum, exact_sums
from abstain._names import check_name
from abstain.metrics.checks import check_labels, check_logits

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


def check_known(labels: NDArray[np.int64], n_classes: int, /) -> None:
    """Labels that all name one of the classes, which a probability can be looked up for."""
    bad = (labels < 0) | (labels >= n_classes)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidInputError(
            f"`labels` must be from 0 to {n_classes - 1} for a metric of the softmax, got {labels[row]} in "
            f"{np.count_nonzero(bad)} of {len(bad)} rows, first in row {row}. Leave out rows of unknown classes."
        )


def brier_score(logits: ArrayLike, labels: ArrayLike, /) -> float:
    """Mean over samples of Σ_k (p_k − 1[y = k])², from 0 to 2, of the softmax p (Brier, 1950).

    A proper score: it falls when the probabilities get sharper and when they get truer. Some libraries halve it for
    two classes. Of probabilities p take log p as logits.

    Parameters
    ----------
    logits : (n, K) array
        Of probabilities p take log p.
    labels : (n,) array of int
        True classes; negative for a class the classifier does not know.

    Returns
    -------
    float
        From 0 to 2; small is good.

    Examples
    --------
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


def log_loss(logits: ArrayLike, labels: ArrayLike, /) -> float:
    """Mean over samples of −log p_y of the softmax p: the negative log-likelihood, or cross-entropy, in nats.

    A proper score without an upper bound; nothing is clipped, so a true class of no chance is an error. Of
    probabilities p take log p as logits.

    Parameters
    ----------
    logits : (n, K) array
        Of probabilities p take log p.
    labels : (n,) array of int
        True classes; negative for a class the classifier does not know.

    Returns
    -------
    float
        In nats; small is good.

    Examples
    --------
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
        raise InvalidInputError(
            f"`logits` must give the true class some chance, got none in {np.count_nonzero(bad)} of {len(bad)} rows, "
            f"first in row {int(np.argmax(bad))}. Its log-loss is infinite; smooth the probabilities, or use the Brier "
            "score."
        )
    return losses


Binning = Literal["equal_mass", "equal_width"]


def calibration_error(
    logits: ArrayLike, labels: ArrayLike, /, *, bins: int = 15, binning: Binning = "equal_mass"
) -> float:
    r"""Expected calibration error :math:`\sum_b \frac{n_b}{n}|a_b - p_b|` of the softmax's largest probability (ECE).

    ``equal_mass`` bins hold as many samples each, but never part a tie: a group of ties is where its middle is (Nixon
    et al., 2019). ``equal_width`` bins are (k/B, (k+1)/B] (Guo et al., 2017). It depends on the number of bins and is
    above 0 for a calibrated softmax of few samples. An unknown class, a negative label, is never right.

    Parameters
    ----------
    logits : (n, K) array
        Of probabilities p take log p.
    labels : (n,) array of int
        True classes; negative for a class the classifier does not know.
    bins : int
        Their number.
    binning : {"equal_mass", "equal_width"}
        How bins are made.

    Returns
    -------
    float
        From 0 to 1; small is good.

    Examples
    --------
    >>> z = np.log([[0.75, 0.25]] * 4)
    >>> calibration_error(z, [0, 0, 0, 1]).__round__(12), calibration_error(z, [0, 0, 0, 0]).__round__(12)
    (0.0, 0.25)
    """
    z = check_logits(logits)
    return softmax_calibration_error(softmax(z), check_labels(labels, len(z)), bins=bins, binning=binning)


def softmax_calibration_error(
    rows: Softmax, labels: NDArray[np.int64], /, *, bins: int = 15, binning: Binning = "equal_mass"
) -> float:
    """The expected calibration error of the largest probability of being right."""
    probability = np.exp(rows.top)
    check_at_least("bins", bins, 1)
    check_name("binning", binning, get_args(Binning))
    if binning == "equal_mass":
        group, counts, _ = order_rows(probability).numbers()
        middle = np.cumsum(counts) - counts / 2
        index = (middle * bins / len(group)).astype(np.int64)[group]
    else:
        edges = np.linspace(0, 1, bins + 1)
        index = np.searchsorted(edges[1:-1], probability)
    return float(np.abs(exact_sums(probability - (labels == rows.prediction), index, bins)).sum() / len(index))
