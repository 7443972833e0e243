import numpy as np
import pytest

from abstain.evaluation.bounds import clustered_bounds, upper_bound_of, upper_bounds
from abstain.metrics.slices import share
from abstain.thresholds.binomial import upper_bound


def test_independent_rows_have_clopper_and_pearson_s_bound():
    errors, accepted = np.array([0, 0, 3, 7, 9]), np.array([1, 40, 100, 7, 1000])
    expected = [upper_bound(int(e), int(n), 0.05) for e, n in zip(errors, accepted, strict=True)]
    assert upper_bounds(errors, accepted, delta=0.05).tolist() == expected


def test_bounds_of_some_rows():
    assert upper_bound_of(np.arange(100) < 3, None, delta=0.05) == pytest.approx(upper_bound(3, 100, 0.05))
    assert upper_bound_of(np.empty(0, dtype=bool), None, delta=0.05) == 1.0


def test_no_rows_have_the_bound_of_one():
    nothing = np.empty(0, dtype=np.int64)
    assert clustered_bounds(nothing.astype(bool), nothing, np.array([0, 0]), delta=0.05).tolist() == [1.0, 1.0]


def test_clusters_have_the_bound_that_figures_show():
    rng = np.random.default_rng(1)
    cluster, wrong = rng.integers(90, size=300), rng.random(300) < 0.3
    ranks = np.array([0, 1, 5, 5, 80, 300])
    result = clustered_bounds(wrong, cluster, ranks, delta=0.05)
    slow = [share(wrong[:rank], ids=cluster[:rank], level=0.9).high if rank else 1.0 for rank in ranks]
    np.testing.assert_allclose(result, slow)
    assert result[-1] == pytest.approx(upper_bound_of(wrong, cluster, delta=0.05))


def test_copies_of_rows_add_nothing():
    wrong = np.random.default_rng(0).random(200) < 0.1
    single, three = (
        clustered_bounds(np.repeat(wrong, k), np.repeat(np.arange(200), k), k * np.arange(1, 201), delta=0.05)
        for k in (1, 3)
    )
    assert (three >= single - 1e-12).all()
    assert three[-1] == pytest.approx(single[-1], rel=0.01)
    np.testing.assert_allclose(single, upper_bounds(np.cumsum(wrong), np.arange(1, 201), delta=0.05))


@pytest.mark.parametrize("delta", [0.5, 0.9])
def test_a_bound_that_may_fail_often_is_still_a_number(delta):
    assert 0.03 < upper_bound_of(np.arange(100) < 3, np.arange(100) // 2, delta=delta) < 0.08
