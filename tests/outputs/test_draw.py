"""Draws of whole clusters: both sides are still independent draws of the clusters that all were."""

from math import sqrt

import numpy as np
import pytest

from abstain.outputs.draw import draw_rows


@pytest.mark.parametrize(("n", "size", "taken"), [(10, 2.5, 2), (10, 3.5, 3), (10, 0.1, 1), (10, 99, 9), (7, 3.4, 3)])
def test_of_rows_without_ids_the_nearest_number_is_drawn_and_neither_side_is_empty(n, size, taken):
    assert draw_rows(n, None, size=size, rng=np.random.default_rng(0)).sum() == taken


def test_clusters_are_drawn_whole():
    ids = np.repeat(np.arange(20), np.arange(1, 21))
    drawn = draw_rows(len(ids), ids, size=len(ids) / 2, rng=np.random.default_rng(0))
    assert len({(k, bool(here)) for k, here in zip(ids.tolist(), drawn, strict=True)}) == 20
    assert len(np.unique(ids[drawn])) == 10


def test_what_is_left_has_as_many_large_clusters_as_there_are():
    """A draw that stops where its rows are nearest to a number leaves the large clusters that would overshoot it."""
    rng, shares = np.random.default_rng(0), []
    for _ in range(2000):
        large = rng.random(40) < 0.2
        ids = np.repeat(np.arange(40), np.where(large, 20, 1))
        drawn = draw_rows(len(ids), ids, size=0.2 * len(ids), rng=rng)
        shares.append(large[np.unique(ids[~drawn])].mean())
    assert np.mean(shares) == pytest.approx(0.2, abs=4 * np.std(shares) / sqrt(2000))


def test_one_cluster_cannot_be_parted():
    with pytest.raises(ValueError, match="`ids` must name at least 2 different samples to draw from, got 1"):
        draw_rows(3, np.zeros(3), size=1, rng=np.random.default_rng(0))
