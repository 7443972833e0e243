import numpy as np
import pytest

from abstain import Outputs
from abstain.scores import Residual
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


@pytest.mark.parametrize("shape", [(40, 7), (7, 40)])
@pytest.mark.parametrize("condition", [1e3, 1e5, 1e8])
def test_the_origin_keeps_its_digits_where_the_head_is_far_from_orthogonal(shape, condition):
    rng = np.random.default_rng(1)
    u, _, vt = np.linalg.svd(rng.normal(size=shape), full_matrices=False)
    weight = u * np.geomspace(1, 1 / condition, 7) @ vt
    origin = vt.T @ rng.normal(size=7)
    result = _least_squares(weight, weight @ origin)
    assert np.linalg.norm(result - origin) < 50 * condition * 2**-53 * np.linalg.norm(origin)


@pytest.mark.parametrize("dim", [0, 2, 20, None])
def test_of_fewer_rows_than_features_the_residual_is_that_of_a_singular_value_decomposition(dim):
    rng = np.random.default_rng(2)
    weight, x, y = rng.normal(size=(3, 50)), rng.normal(size=(20, 50)), rng.normal(size=(30, 50))
    x *= np.geomspace(1, 1e-6, 20)[:, None]  # variances far apart
    sample, outputs = (Outputs(logits=rows @ weight.T, features=rows, weight=weight) for rows in (x, y))
    _, _, vt = np.linalg.svd(x)
    expected = np.linalg.norm(y @ vt[10 if dim is None else dim :].T, axis=1)
    np.testing.assert_allclose(Residual(dim).fit(sample)(outputs), -expected, rtol=1e-6)
