"""How far the softmax's confidence is from the share of right answers."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.kernels.ranks import order_rows
from abstain.kernels.sums import exact_sums
from abstain.metrics.checks import check_labels, check_logits
from abstain.metrics.softmax import Softmax, softmax
from abstain.names import check_name

Binning = Literal["equal_mass", "equal_width"]


def calibration_error(
    logits: ArrayLike, labels: ArrayLike, /, *, bins: int = 15, binning: Binning = "equal_mass"
) -> float:
    """Expected calibration error Σ_b (n_b/n) |accuracy_b − mean p_max,b| of the softmax's largest probability (ECE).

    ``equal_mass`` bins hold as many samples each, but never part a tie: a group of ties is where its middle is (Nixon
    et al., 2019). ``equal_width`` bins are (k/B, (k+1)/B] (Guo et al., 2017). It depends on the number of bins and is
    above 0 for a calibrated softmax of few samples. An unknown class, a negative label, is never right.

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
    if bins < 1:
        raise ValueError(f"`bins` must be at least 1, got {bins}.")
    check_name("binning", binning, get_args(Binning))
    if binning == "equal_mass":
        group, counts, _ = order_rows(probability).numbers()
        middle = np.cumsum(counts) - counts / 2
        place = (middle * bins / len(group)).astype(np.int64)[group]
    else:
        edges = np.linspace(0, 1, bins + 1)
        place = np.searchsorted(edges[1:-1], probability)
    return float(np.abs(exact_sums(probability - (labels == rows.prediction), place, bins)).sum() / len(place))
