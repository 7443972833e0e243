from math import sqrt

import numpy as np
import pytest

from abstain.metrics import SampleRows, compare, compare_all, estimates, rank
from abstain.metrics.clusters import RowClusters
from abstain.metrics.compare import compare_with
from abstain.metrics.influence import aurc_influence

RNG = np.random.default_rng(0)
N = 4_000
BASE = RNG.normal(size=N)
ERRORS = RNG.random(N) < 0.5 / (1 + np.exp(BASE))
SCORES = {
    "smooth": BASE,
    "ties": (BASE + RNG.normal(scale=0.3, size=N)).round(1),
    "single": (BASE + RNG.normal(scale=0.3, size=N)).astype(np.float32),
    "same": BASE.copy(),
}
IDS = RNG.integers(N // 2, size=N)


@pytest.mark.parametrize("ids", [None, IDS], ids=["rows", "clusters"])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_all_pairs_are_those_of_the_comparison(ids, alpha):
    comparison = compare_all(SCORES, ERRORS, alpha=alpha, ids=ids)
    assert len(comparison) == 6
    for (a, b), each in comparison.items():
        assert each == compare(SCORES[a], SCORES[b], ERRORS, alpha=alpha, ids=ids)
    assert comparison["smooth", "same"].difference == comparison["smooth", "same"].se == 0


@pytest.mark.parametrize("ids", [None, IDS], ids=["rows", "clusters"])
def test_no_order_of_rows_changes_a_bit(ids):
    order = RNG.permutation(N)
    moved = compare_all(
        {name: c[order] for name, c in SCORES.items()}, ERRORS[order], ids=None if ids is None else ids[order]
    )
    assert moved == compare_all(SCORES, ERRORS, ids=ids)


def by_hand(confidence, m):
    """The influence on Σ_{k≤m} R_k / m of every row of a ranking without ties, row by row."""
    order, position = np.argsort(-confidence), np.empty(N, int)
    position[order] = np.arange(N)
    ranks = np.arange(1, N + 1)
    steps = np.where(ranks <= m, 1 / ranks, 0.0)
    h, t = (np.cumsum(x[::-1])[::-1] for x in (steps, steps * ERRORS[order]))
    raw = ERRORS * h[position] - t[position]
    return (raw - raw.mean()) * N / m


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0])
def test_the_standard_error_is_that_of_the_influence_of_every_row(alpha):
    other = BASE + RNG.normal(scale=0.2, size=N)
    apart = by_hand(BASE, int(alpha * N)) - by_hand(other, int(alpha * N))
    assert compare(BASE, other, ERRORS, alpha=alpha).se == pytest.approx(apart.std(ddof=1) / sqrt(N), rel=1e-11)


def test_the_influence_of_a_tie_is_that_of_its_mean_place():
    """Against the general pass over groups, which losses of another kind take."""
    c = SCORES["ties"]
    counted = aurc_influence(rank(c, ERRORS), alpha=0.5)
    weighted = aurc_influence(rank(c, ERRORS, weights=np.ones(N)), alpha=0.5)
    np.testing.assert_allclose(counted.centred, weighted.centred, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(counted.share, weighted.share, rtol=1e-12)


@pytest.mark.parametrize("ids", [None, IDS], ids=["rows", "clusters"])
def test_shares_that_are_found_later_are_the_same(monkeypatch, ids):
    whole = compare_all(SCORES, ERRORS, ids=ids, alpha=0.5)
    monkeypatch.setattr("abstain.metrics.influence.KEPT", 5)
    assert compare_all(SCORES, ERRORS, ids=ids, alpha=0.5) == whole


def test_many_against_one():
    rows = SampleRows.of(ERRORS)
    best, *others = (estimates(rows.rank(c))[0] for c in SCORES.values())
    assert compare_with(best, others)[0] == compare(SCORES["ties"], SCORES["smooth"], ERRORS)
    with pytest.raises(ValueError, match="must have two rankings of the same rows"):
        compare_with(best, [estimates(rank(BASE, ERRORS))[0]])


def test_clusters_of_some_rows_are_numbered_anew():
    clusters, chosen = RowClusters.of(IDS, N), IDS % 3 > 0
    among, own = clusters.among(chosen), RowClusters.of(IDS[chosen], chosen.sum())
    assert among.size == own.size
    assert len(np.unique(np.stack([among.number, own.number]), axis=1).T) == own.size
    assert clusters.among(np.arange(N) == 5) is None
