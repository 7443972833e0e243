import numpy as np
import pytest

from abstain_reproduction.ood.jackknife import jackknife


def test_the_error_of_a_mean_is_the_usual_one():
    values = np.random.default_rng(0).normal(size=5000)
    value, error = jackknife(lambda rows: values[rows].mean(), np.arange(5000))
    assert value == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(5000), rel=0.35)


def test_copies_of_a_sample_are_one():
    values = np.repeat(np.random.default_rng(0).normal(size=1000), 4)
    _, error = jackknife(lambda rows: values[rows].mean(), np.repeat(np.arange(1000), 4))
    assert error == pytest.approx(values.std() / np.sqrt(1000), rel=0.35)


def test_the_error_of_a_quantile_is_near_its_spread():
    rng = np.random.default_rng(1)
    draws = [np.quantile(rng.normal(size=2000), 0.1) for _ in range(300)]
    errors = []
    for _ in range(20):
        values = rng.normal(size=2000)
        errors.append(jackknife(lambda rows, v=values: np.quantile(v[rows], 0.1), np.arange(2000))[1])
    assert np.mean(errors) == pytest.approx(np.std(draws), rel=0.25)
