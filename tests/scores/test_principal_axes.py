"""Principal axes, of many rows and of few."""

import numpy as np
import pytest

from abstain.scores.principal_axes import are_few, principal_axes


@pytest.mark.parametrize(("n", "d"), [(40, 6), (6, 6), (3, 6), (1, 6)])
def test_values_and_axes_make_the_second_moment(n, d):
    rows = np.random.default_rng(n).normal(size=(n, d))
    values, axes = principal_axes(rows)
    assert len(values) == (n if are_few(n, d) else d)
    assert (np.diff(values) <= 0).all()
    np.testing.assert_allclose(axes @ axes.T, np.eye(len(values)), atol=1e-12)
    np.testing.assert_allclose((axes.T * values) @ axes, rows.T @ rows / n, atol=1e-12)
