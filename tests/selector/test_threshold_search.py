import pytest

from abstain.selector.threshold_search import labels_at, level_at, looks_with


def test_a_look_is_due_when_its_labels_are_there():
    for look in range(1, 12):
        assert (looks_with(labels_at(look) - 1), looks_with(labels_at(look))) == (look - 1, look)


def test_the_levels_of_all_looks_sum_to_delta():
    assert sum(level_at(0.05, look) for look in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)
