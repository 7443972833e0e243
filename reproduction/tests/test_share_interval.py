import numpy as np
import pytest
from scipy.stats import binomtest

from abstain_reproduction.share_interval import ShareInterval


def test_the_interval_of_single_samples_is_that_of_clopper_and_pearson():
    interval = ShareInterval.of(np.arange(40) < 31, None)
    expected = binomtest(31, 40).proportion_ci(method="exact")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_copies_of_a_sample_count_once():
    inside, ids = np.arange(40) < 31, np.arange(40)
    once, often = ShareInterval.of(inside, ids), ShareInterval.of(np.repeat(inside, 7), np.repeat(ids, 7))
    assert (often.value, often.low, often.high) == pytest.approx((once.value, once.low, once.high))
    assert once.is_most
    assert ShareInterval.of(np.arange(40) < 22, None).is_most is None
    assert ShareInterval.of(np.arange(40) < 5, None).is_most is False
