import numpy as np
import pytest

from abstain.report.evaluation_page.bounds import effective_sizes, upper_bounds
from abstain.thresholds.binomial import upper_bound


def test_independent_rows_have_clopper_and_pearson_s_bound():
    errors, accepted = np.array([0, 0, 3, 7, 9]), np.array([1, 40, 100, 7, 1000])
    expected = [upper_bound(int(e), int(n), 0.05) for e, n in zip(errors, accepted, strict=True)]
    assert upper_bounds(errors, accepted, delta=0.05).tolist() == expected


def test_copies_of_rows_add_nothing():
    rng = np.random.default_rng(0)
    wrong = rng.random(200) < 0.1
    sizes = effective_sizes(np.repeat(np.arange(200), 3), np.repeat(wrong, 3), 3 * np.arange(1, 201))
    np.testing.assert_allclose(sizes, np.arange(1, 201))
    one = upper_bounds(np.cumsum(wrong), np.arange(1, 201), delta=0.05)
    np.testing.assert_allclose(upper_bounds(3 * np.cumsum(wrong), 3 * np.arange(1, 201), delta=0.05, size=sizes), one)


def test_clusters_are_counted_as_a_slow_count_does():
    rng = np.random.default_rng(1)
    cluster, wrong = rng.integers(30, size=300), rng.random(300) < 0.3
    ranks = np.array([5, 80, 300])
    for rank, found in zip(ranks, effective_sizes(cluster, wrong, ranks), strict=True):
        c, e = cluster[:rank], wrong[:rank]
        risk = e.mean()
        between = sum((e[c == k].sum() - risk * np.count_nonzero(c == k)) ** 2 for k in set(c.tolist()))
        effect = between / (rank * risk * (1 - risk)) if 0 < risk < 1 else np.bincount(c).__pow__(2).sum() / rank
        assert found == pytest.approx(rank / max(1.0, effect))
