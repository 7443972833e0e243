import numpy as np
import pytest

from abstain._draws import generator as library_generator
from abstain_reproduction.draws import generator


def first(*arguments):
    return generator(*arguments).random()


@pytest.mark.parametrize("data", [(), ([1, 2],), (np.array(["a", "b"]), np.eye(3)), (np.zeros((2, 3_000_000)),)])
def test_draws_are_those_that_the_published_numbers_were_made_with(data):
    assert first("a purpose", 3, *data) == library_generator("a purpose", 3, *data).random()


def test_purpose_seed_and_data_each_change_the_draw():
    assert len({first("a", 0, [1.0]), first("b", 0, [1.0]), first("a", 1, [1.0]), first("a", 0, [2.0])}) == 4
