"""The band against its formula row by row, against a jackknife and by simulation."""

import numpy as np
import pytest

from abstain.metrics import group, risk_at_coverage, risk_band, risk_coverage
from abstain.metrics.operating_points import rates_at_cut


def clustered(rng, n, clusters, *, ties=False):
    """Rows whose confidence and error rate depend on their cluster."""
    ids = np.repeat(np.arange(clusters), n // clusters)
    both, hidden = rng.normal(size=(2, clusters))[:, ids]
    c = 0.7 * both + 0.7 * rng.normal(size=n)
    errors = rng.random(n) < 1 / (1 + np.exp(1.5 * c - 1.5 * hidden + 1))
    return np.round(c) if ties else c, errors, ids


def by_rows(c, losses, weights, ids, threshold, near):
    """The standard error from the influence of every row."""
    accepted, total = c > threshold, weights.sum()
    coverage = weights[accepted].sum() / total
    risk = (weights * losses)[accepted].sum() / weights[accepted].sum()
    influence = weights / weights.mean() * (accepted * (losses - near) - coverage * (risk - near)) / coverage
    sums = np.bincount(np.unique(ids, return_inverse=True)[1], influence)
    return np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()) / len(c)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("clusters", [60, 300])
def test_standard_errors_are_those_of_the_influence_of_every_row(ties, weighted, clusters):
    rng = np.random.default_rng(0)
    c, _, ids = clustered(rng, 300, clusters, ties=ties)
    losses, weights = rng.random(300), rng.random(300) + 0.5 if weighted else np.ones(300)
    order = rng.permutation(300)
    c, ids = c[order], ids[order]
    band, curve = risk_band(c, losses, weights=weights, ids=ids), risk_coverage(c, losses, weights=weights)
    groups = group(c, losses, weights=weights)
    near = rates_at_cut(groups, np.cumsum(groups.weights))
    np.testing.assert_allclose(band.risk, curve.risk, rtol=1e-12)
    expected = [by_rows(c, losses, weights, ids, *each) for each in zip(curve.threshold, near, strict=True)]
    np.testing.assert_allclose(band.se, expected, rtol=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_the_band_holds_and_one_that_counts_every_row_does_not(ties):
    population = risk_coverage(*clustered(np.random.default_rng(9), 1_000_000, 100_000, ties=ties)[:2])
    x, y = (np.append(0.0, each) for each in (population.coverage, population.coverage * population.risk))
    rng, draws, held, careless, apart, errors = np.random.default_rng(1), 200, [], [], [], []
    for _ in range(draws):
        c, e, ids = clustered(rng, 1000, 100, ties=ties)
        band, of_rows = risk_band(c, e, ids=ids, points=11), risk_band(c, e, points=11)
        at = [int(np.argmin(abs(band.coverage - coverage))) for coverage in (0.3, 0.6, 0.9)]
        truth = np.interp(band.coverage, x, y) / band.coverage
        held.append(((band.low <= truth) & (truth <= band.high))[at])
        careless.append(((of_rows.low <= truth) & (truth <= of_rows.high))[at])
        apart.append((band.risk - truth)[at])
        errors.append(band.se[at])
    assert (np.mean(held, axis=0) >= 0.92).all()
    assert (np.mean(careless, axis=0) < 0.9).all()
    np.testing.assert_allclose(np.mean(errors, axis=0), np.std(apart, axis=0), rtol=0.15)


def test_the_standard_error_is_that_of_a_jackknife_over_parts_of_the_clusters():
    c, e, ids = clustered(np.random.default_rng(2), 6000, 600)
    band, parts = risk_band(c, e, ids=ids), 60
    for coverage in (0.3, 0.7, 1.0):
        left = [
            risk_at_coverage(c[ids % parts != part], e[ids % parts != part], coverage=coverage) for part in range(parts)
        ]
        jackknife = np.sqrt((parts - 1) * np.var(left))
        at = np.argmin(abs(band.coverage - coverage))
        assert band.se[at] == pytest.approx(jackknife, rel=0.25)


def test_a_random_threshold_adds_what_the_samples_near_it_differ_by():
    c, e, _ = clustered(np.random.default_rng(3), 2000, 2000)
    band, near = risk_band(c, e, points=2000), rates_at_cut(group(c, e), np.arange(1.0, 2001.0))
    fixed = band.risk * (1 - band.risk)
    moved = np.square(band.risk - near) * (1 - band.coverage)
    expected = np.sqrt((fixed + moved) / (band.coverage * 1999))
    np.testing.assert_allclose(band.se[:-1], expected[:-1], rtol=1e-9)


def test_no_error_seen_leaves_room_above_and_rows_of_no_confidence_are_never_accepted():
    band = risk_band([0.9, 0.8, 0.7, -np.inf], [0, 0, 0, 1])
    assert band.coverage.tolist() == [0.25, 0.5, 0.75]
    assert (band.low == 0).all()
    assert (band.high > 0.7).all()


def test_many_points_are_thinned_to_the_same_values():
    c, e, ids = clustered(np.random.default_rng(4), 3000, 300)
    every, some = risk_band(c, e, ids=ids, points=3000), risk_band(c, e, ids=ids, points=50)
    assert len(some.coverage) == 50
    assert some.coverage[-1] == 1.0
    at = np.searchsorted(every.coverage, some.coverage)
    np.testing.assert_array_equal(every.high[at], some.high)


def test_the_band_is_shaded_on_given_axes():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    band = risk_band([0.9, 0.8, 0.7], [0, 1, 0])
    assert band.plot(ax=axes, color="red") is axes
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert {band.low.min(), band.high.max()} <= set(heights)


def test_the_band_holds_at_the_end_of_a_short_bad_stretch():
    """There the curve has a peak, and a cut a little off on either side shows a lower risk."""
    held = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        u = rng.random(500)
        band = risk_band(1 - u, rng.random(500) < np.where((u > 0.3) & (u < 0.32), 1.0, 0.002))
        at = np.argmin(np.abs(band.coverage - 0.32))
        held += band.low[at] <= (0.02 + 0.3 * 0.002) / 0.32 <= band.high[at]
    assert held / 200 > 0.91
