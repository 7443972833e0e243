from math import sqrt

import numpy as np
import pytest

from abstain import Outputs
from abstain.outputs.rows import RowView, draw_rows

RNG = np.random.default_rng(0)
Z, X = RNG.normal(size=(60, 4)).astype(np.float32), RNG.normal(size=(60, 3))
ROWS = RNG.permutation(60)[:40]


@pytest.fixture
def later(monkeypatch):
    monkeypatch.setattr("abstain.outputs.rows.ALWAYS_COPIED", 0)
    return Outputs(logits=Z, features=X, labels=Z.argmax(axis=1)).select(ROWS)


def test_rows_are_taken_when_they_are_looked_at(later):
    assert isinstance(later.source("logits"), RowView)
    np.testing.assert_array_equal(later.source("logits")[3:9], Z[ROWS[3:9]])
    np.testing.assert_array_equal(later.logits, Z[ROWS])
    np.testing.assert_array_equal(later.features, X[ROWS])
    assert later.source("logits") is later.logits  # from now on


def test_nothing_else_makes_them_be_copied(later):
    assert (len(later), later.n_classes) == (40, 4)
    assert not later.errors.any()
    assert not later.are_log_probabilities
    assert "features" in repr(later)
    later.generator("a test", 0)
    assert isinstance(later.source("logits"), RowView)


def test_rows_of_rows(later):
    np.testing.assert_array_equal(later.select([5, -1, 2]).logits, Z[ROWS[[5, -1, 2]]])
    np.testing.assert_array_equal(later[10:20].features, X[ROWS[10:20]])


def test_they_cannot_be_changed(later):
    with pytest.raises(ValueError, match="read-only"):
        later.logits[0, 0] = 1


def test_the_draw_is_that_of_copied_rows(later):
    copied = Outputs(logits=Z[ROWS], features=X[ROWS], labels=Z[ROWS].argmax(axis=1))
    np.testing.assert_array_equal(later.split(0.5)[0].logits, copied.split(0.5)[0].logits)


def test_outputs_have_no_other_attributes(later):
    with pytest.raises(AttributeError, match="has no attribute 'logit'"):
        _ = later.logit


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
