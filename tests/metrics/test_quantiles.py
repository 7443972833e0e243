import pytest
from scipy.special import ndtri, stdtrit

from abstain.metrics.spread import normal_quantile, student_quantile

PROBABILITIES = (1e-12, 0.005, 0.025, 0.5, 0.975, 0.9995)


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_normal_quantiles_are_those_of_scipy(probability):
    assert normal_quantile(probability) == pytest.approx(ndtri(probability), rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("probability", [0.9, 0.975, 0.995])
@pytest.mark.parametrize(("freedom", "rel"), [(2.0, 0.15), (4.0, 0.015), (10.0, 1e-3), (1e6, 1e-12)])
def test_student_quantiles_are_those_of_scipy(probability, freedom, rel):
    assert student_quantile(probability, freedom) == pytest.approx(stdtrit(freedom, probability), rel=rel)
