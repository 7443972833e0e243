"""Metrics of the softmax itself: Brier score, log-loss and calibration error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_at_least
from abstain._errors import InvalidInputError
from abstain._kernels.ranking import order_rows
from abstain._kernels.sums import exact_sum, exact_sums
from abstain._names import check_name
from abstain.metrics.checks import check_labels, check_logits
from abstain.metrics.influence import Value, mean_value
from abstain.metrics.metric import Metric, Need
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.metrics.softmax import Softmax, softmax


def _check_known(labels: NDArray[np.int64], n_classes: int, /) -> None:
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
    rows = _brier_rows(softmax(z), check_labels(labels, len(z)))
    return exact_sum(rows) / len(rows)


def _brier_rows(rows: Softmax, labels: NDArray[np.int64], /) -> NDArray[np.float64]:
    """The squared error of each sample, (n,)."""
    _check_known(labels, rows.logits.shape[1])
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
    rows = _log_loss_rows(softmax(z), check_labels(labels, len(z)))
    return exact_sum(rows) / len(rows)


def _log_loss_rows(rows: Softmax, labels: NDArray[np.int64], /) -> NDArray[np.float64]:
    """−log p_y of each sample, (n,)."""
    _check_known(labels, rows.logits.shape[1])
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
    return _calibration_error(softmax(z), check_labels(labels, len(z)), bins=bins, binning=binning)


def _calibration_error(
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


def brier_value(ranking: Ranking, _: float, /) -> Value:
    """Brier score of ranked rows."""
    return _mean(_brier_rows, ranking.rows)


def log_loss_value(ranking: Ranking, _: float, /) -> Value:
    """Log loss of ranked rows."""
    return _mean(_log_loss_rows, ranking.rows)


def _mean(of_rows: Callable[[Softmax, NDArray[np.int64]], NDArray[np.float64]], rows: SampleRows) -> Value:
    return mean_value(of_rows(rows.softmax, np.asarray(rows.labels)), rows.weights, rows.clusters)


def _error_in(binning: Binning) -> Callable[[Ranking, float], Value]:
    return lambda ranking, _: Value(
        _calibration_error(ranking.rows.softmax, np.asarray(ranking.rows.labels), binning=binning)
    )


LIKELIHOOD: tuple[Need, ...] = ("classes", "softmax", "known")
CALIBRATION: tuple[Need, ...] = ("classes", "softmax", "unweighted")
MASS, WIDTH = "Calibration error, bins of equal mass", "Calibration error, bins of equal width"
ENTRIES = (
    Metric("brier_score", "Brier", "Brier score", "small", brier_value, LIKELIHOOD),
    Metric("log_loss", "NLL", "Log loss", "small", log_loss_value, LIKELIHOOD),
    Metric("calibration_error", "ECE", MASS, "small", _error_in("equal_mass"), CALIBRATION),
    Metric("calibration_error_width", "ECE-w", WIDTH, "small", _error_in("equal_width"), CALIBRATION),
)
