import numpy as np
import pytest

from abstain.metrics import share, slices
from abstain.metrics.slices import rows_of_parts


def test_each_name_has_the_counts_of_its_rows_and_the_intervals_of_a_share():
    rng = np.random.default_rng(0)
    names = rng.choice(["fog", "clear", "night"], size=300)
    accepted, errors, ids = rng.random(300) < 0.7, rng.random(300) < 0.2, rng.integers(100, size=300)
    result = slices(names, accepted, errors, ids=ids, level=0.9)
    assert [each.name for each in result] == ["clear", "fog", "night"]
    for each in result:
        rows = names == each.name
        assert (each.n, each.accepted) == (rows.sum(), (rows & accepted).sum())
        assert each.errors == (rows & accepted & errors).sum()
        assert each.coverage == share(accepted[rows], ids=ids[rows], level=0.9)
        assert each.risk == share(errors[rows & accepted], ids=ids[rows & accepted], level=0.9)


def test_a_slice_of_which_nothing_is_accepted_has_no_risk():
    [single] = slices([7, 7], [False, False], [0, 1])
    assert (single.name, single.accepted, single.errors, single.risk) == ("7", 0, 0.0, None)


def test_rows_without_a_name_are_refused():
    with pytest.raises(ValueError, match="must have a name, a boolean and a loss for each row, got shapes"):
        slices(["a"], [True, False], [0, 1])


def test_the_rows_of_a_part_are_in_their_order_and_a_part_may_have_none():
    assert [rows.tolist() for rows in rows_of_parts(np.array([2, 0, 2, 0]), 3)] == [[1, 3], [], [0, 2]]
