import numpy as np
import pytest

from abstain._bisection import first_integers, first_number, first_of


@pytest.mark.parametrize("guess", [0, 3, 9])
@pytest.mark.parametrize("first", range(12))
def test_the_first_of_some_trials_is_that_of_a_scan(guess, first):
    """The guess may be too high or too low, and the last trial is looked at, wherever the doubled steps lead."""
    expected = next((k for k in range(10) if k >= first), None)
    assert first_of(range(10), lambda k: k >= first, guess) == expected


def test_no_trials_have_no_first():
    assert first_of([], lambda _: True, 0) is None


def test_integers_are_searched_each_by_itself():
    aims = np.arange(8)
    first = first_integers(lambda k: k >= aims, np.full(8, -1), np.full(8, 5))
    assert first.tolist() == [0, 1, 2, 3, 4, 5, 5, 5]


def test_a_number_that_holds_nowhere_is_the_upper_end():
    assert first_number(lambda _: False, 0.0, 1.0, within=1e-6) == 1.0
