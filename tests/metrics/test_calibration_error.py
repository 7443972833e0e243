from itertools import pairwise

import numpy as np
import pytest
from scipy.special import softmax

from abstain.metrics import calibration_error


def by_hand(probability, is_right, bins):
    """Σ_b (n_b/n) |accuracy − confidence| for given lists of rows."""
    return sum(len(rows) / len(is_right) * abs(is_right[rows].mean() - probability[rows].mean()) for rows in bins)


@pytest.mark.parametrize("count", [1, 7, 15])
def test_bins_of_equal_width_and_of_equal_mass(softmax_sample, count):
    logits, labels = softmax_sample
    p = softmax(logits, axis=1)
    top, is_right = p.max(1), p.argmax(1) == labels
    edges = np.arange(count + 1) / count
    width = [np.flatnonzero((top > low) & (top <= high)) for low, high in pairwise(edges)]
    expected = by_hand(top, is_right, [rows for rows in width if rows.size])
    assert calibration_error(logits, labels, bins=count, binning="equal_width") == pytest.approx(expected, rel=1e-11)
    path = np.empty(len(top), dtype=int)
    path[np.argsort(-top)] = np.floor((np.arange(len(top)) + 0.5) * count / len(top))
    expected = by_hand(top, is_right, [np.flatnonzero(path == k) for k in range(count)])
    assert calibration_error(logits, labels, bins=count) == pytest.approx(expected, rel=1e-11)


def test_ties_stay_in_one_bin_whatever_the_order_of_rows():
    """Two values in three bins: those at 0.9, three quarters of all, are where their middle is; those at 0.6 follow."""
    z = np.log(np.repeat([[0.9, 0.1], [0.6, 0.4]], [30, 10], axis=0))
    labels = np.repeat([0, 1, 0, 1], [24, 6, 3, 7])
    expected = 0.75 * (0.9 - 0.8) + 0.25 * (0.6 - 0.3)
    assert calibration_error(z, labels, bins=3) == pytest.approx(expected, rel=1e-12)
    order = np.random.default_rng(0).permutation(40)
    assert calibration_error(z[order], labels[order], bins=3) == calibration_error(z, labels, bins=3)


def test_an_unknown_class_is_never_right():
    assert calibration_error(np.log([[0.75, 0.25]]), [-1]) == pytest.approx(0.75)


def test_messages():
    with pytest.raises(ValueError, match="`bins` must be at least 1, got 0"):
        calibration_error([[0.0, 1.0]], [0], bins=0)
    with pytest.raises(ValueError, match="`binning` must be one of equal_mass, equal_width, got 'width'"):
        calibration_error([[0.0, 1.0]], [0], binning="width")
