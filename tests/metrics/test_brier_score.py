import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import brier_score_loss

from abstain.metrics import brier_score


def test_it_is_that_of_scikit_learn(softmax_sample):
    logits, labels = softmax_sample
    expected = brier_score_loss(labels, softmax(logits, axis=1), scale_by_half=False)
    assert brier_score(logits, labels) == pytest.approx(expected, rel=1e-13)
    assert brier_score(logits.astype(np.float32), labels) == pytest.approx(expected, rel=1e-6)


def test_a_small_score_is_not_rounded_to_nothing():
    """(1 − p)² + q² for p = 1 − 1e-30, where 1 − p is 0 in plain floating point."""
    z = np.array([[30 * np.log(10), 0.0]])
    assert brier_score(z, [0]) == pytest.approx(2e-60, rel=1e-12, abs=0)
    assert brier_score(z, [1]) == pytest.approx(2)


def test_no_order_of_rows_changes_a_digit(softmax_sample):
    logits, labels = softmax_sample
    order = np.random.default_rng(1).permutation(len(labels))
    assert brier_score(logits, labels) == brier_score(logits[order], labels[order])


def test_messages():
    with pytest.raises(ValueError, match=r"`labels` must be from 0 to 1 .* got -1 in 1 of 2 rows, first in row 1"):
        brier_score([[0.0, 1.0], [0.0, 1.0]], [0, -1])
    with pytest.raises(ValueError, match=r"`logits` must be numbers of shape \(n, K\)"):
        brier_score([0.0, 1.0], [0, 1])
    with pytest.raises(ValueError, match=r"`logits` must be finite, .* got 1 rows that are not, first row 1"):
        brier_score([[0.0, 1.0], [np.nan, 1.0]], [0, 1])
    with pytest.raises(ValueError, match="`labels` must be 1 integers"):
        brier_score([[0.0, 1.0]], [0, 1])
