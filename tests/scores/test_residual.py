import numpy as np
import pytest

from abstain.scores.residual import _least_squares


@pytest.mark.parametrize("shape", [(40, 7), (7, 40), (9, 9)])
@pytest.mark.parametrize("rank", [None, 5])
def test_the_origin_is_the_shortest_least_squares_solution_whatever_the_rank(shape, rank):
    rng = np.random.default_rng(0)
    weight, bias = rng.normal(size=shape), rng.normal(size=shape[0])
    if rank is not None:
        weight = rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))
    np.testing.assert_allclose(_least_squares(weight, bias), np.linalg.pinv(weight) @ bias, rtol=1e-9, atol=1e-12)


def test_a_head_of_zeros_has_its_origin_at_zero():
    np.testing.assert_array_equal(_least_squares(np.zeros((4, 3)), np.ones(4)), np.zeros(3))
