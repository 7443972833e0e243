import numpy as np

from abstain.evaluation.page.curves import thinned
from abstain.metrics import risk_coverage


def test_a_curve_of_many_rows_keeps_its_looks_with_few_points():
    rng = np.random.default_rng(0)
    path = rng.random(200_000)
    curve = risk_coverage(1 - path, rng.random(200_000) < 0.4 * path**2)
    x, y = curve.coverage[200:], curve.risk[200:]
    kept = thinned(x, y)
    assert len(kept) < 1200
    assert {0, len(x) - 1} <= set(kept.tolist())
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() < 0.005 * np.ptp(y)


def test_few_points_and_none_are_kept():
    assert thinned(np.empty(0), np.empty(0)).tolist() == []
    assert thinned(np.array([0.5]), np.array([0.1])).tolist() == [0]
    assert thinned(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 0.0])).tolist() == [0, 1, 2]
    assert thinned(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0])).tolist() == [0, 2]
