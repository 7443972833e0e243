import pytest
from scipy.special import gammaincinv, ndtri

from abstain.metrics.quantiles import gamma_quantile, normal_quantile

PROBABILITIES = (1e-12, 0.005, 0.025, 0.5, 0.975, 0.9995)


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_normal_quantiles_are_those_of_scipy(probability):
    assert normal_quantile(probability) == pytest.approx(ndtri(probability), rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("probability", PROBABILITIES)
@pytest.mark.parametrize("shape", [0.01, 0.5, 1.0, 1.0 + 1e-12, 3.7, 51.0, 1e3])
def test_gamma_quantiles_are_those_of_scipy(shape, probability):
    assert gamma_quantile(shape, probability) == pytest.approx(gammaincinv(shape, probability), rel=1e-10)


@pytest.mark.parametrize("shape", [1.0, 51.0])
def test_far_gamma_quantiles_lose_digits_only_where_one_less_the_probability_does(shape):
    assert gamma_quantile(shape, 1 - 1e-9) == pytest.approx(gammaincinv(shape, 1 - 1e-9), rel=1e-5)
