import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss as sklearn_log_loss

from abstain.metrics import log_loss


def test_it_is_that_of_scikit_learn(softmax_sample):
    logits, labels = softmax_sample
    assert log_loss(logits, labels) == pytest.approx(sklearn_log_loss(labels, softmax(logits, axis=1)), rel=1e-12)


def test_nothing_is_clipped():
    assert log_loss([[0.0, 2000.0]], [0]) == 2000
    assert log_loss([[0.0, 50.0]], [1]) == pytest.approx(np.exp(-50), rel=1e-12, abs=0)
    with pytest.raises(ValueError, match="`logits` must give the true class some chance, got none in 1 of 2 rows"):
        log_loss([[0.0, 1.0], [-np.inf, 1.0]], [0, 0])
