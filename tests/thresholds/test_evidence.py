"""Which fresh rows test a guarantee is decided by what was guaranteed, whatever the rows happen to be."""

import numpy as np
import pytest

from abstain.thresholds.evidence import Evidence
from abstain.thresholds.guarantee import Guarantee, Quantity

IDS = np.array([0, 0, 0, 1, 1, 2])


def evidence(*, ids=IDS, inside=None, **about):
    guarantee = Guarantee(quantity=Quantity.RISK, target=0.1, probability=0.9, distribution="rows", **about)
    inside = np.ones(6, dtype=bool) if inside is None else np.array(inside, dtype=bool)
    return Evidence.of(guarantee, inside, ids, np.linspace(0, 1, 6), np.zeros(6, dtype=bool))


@pytest.mark.parametrize("ids", [IDS, np.arange(6), None], ids=["repeated", "different", "none"])
def test_a_guarantee_about_clusters_is_tested_by_bets_even_where_no_id_repeats(ids):
    result = evidence(ids=ids, largest=5)
    assert result.clusters is not None
    assert (result.largest, result.left_out, result.rows.all()) == (5, 0, True)


def test_clusters_larger_than_guaranteed_are_left_out_and_counted():
    result = evidence(largest=2)
    assert result.rows.tolist() == [False, False, False, True, True, True]
    assert (result.largest, result.left_out) == (2, 3)


def test_of_clusters_of_one_row_the_rows_are_independent():
    result = evidence(largest=1)
    assert result.rows.tolist() == [False, False, False, False, False, True]
    assert result.clusters is None


def test_only_the_rows_of_the_group_make_a_cluster_large():
    result = evidence(largest=1, inside=[1, 0, 0, 1, 1, 0])
    assert result.rows.tolist() == [True, False, False, False, False, False]
    assert result.left_out == 2


def test_where_clusters_count_one_row_of_each_is_drawn():
    result = evidence(counting="clusters")
    assert sorted(IDS[result.rows]) == [0, 1, 2]
    assert result.clusters is None
    assert evidence(counting="clusters", ids=None).rows.all()


def test_clusters_where_independent_rows_were_guaranteed_are_as_large_as_the_largest():
    result = evidence()
    assert (result.largest, result.left_out) == (3, 0)
    assert result.clusters is not None
    assert evidence(ids=np.arange(6)).clusters is None
