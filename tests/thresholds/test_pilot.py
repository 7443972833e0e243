import numpy as np
import pytest

from abstain.thresholds import NoSafeThresholdError, plan_from_pilot, step_down


def sample(run, n):
    rng = np.random.default_rng([run, n, 6])
    u = rng.random(n)
    return 1 - u, rng.random(n) < 0.005 + 0.45 * u**2


def test_calibrations_certify_what_a_pilot_foretold():
    """Of 24 pilots with a calibration each, eight in ten are meant to lie within the range."""
    inside = 0
    for run in range(24):
        (row,) = plan_from_pilot(*sample(run, 300), risk=0.05, delta=0.1, sizes=(400,))
        try:
            coverage = step_down(*sample(run, 400), risk=0.05, delta=0.1).accepted / 400
        except NoSafeThresholdError:
            coverage = 0.0
        inside += row.low <= coverage <= row.high
    assert inside >= 14


def test_more_rows_and_fewer_errors_certify_more():
    c, e = sample(0, 300)
    few, many = plan_from_pilot(c, e, risk=0.05, sizes=(300, 2000))
    assert few.nothing >= many.nothing
    assert few.low <= few.middle <= few.high
    assert plan_from_pilot(c, e & (c < 0.3), risk=0.05, sizes=(300,))[0].middle > few.middle


def test_a_pilot_without_errors_is_not_taken_for_certainty():
    (row,) = plan_from_pilot(np.arange(100.0), np.zeros(100), risk=0.02, sizes=(1000,))
    assert row.low < 1.0


def test_sizes_are_numbers_of_rows():
    with pytest.raises(ValueError, match="`sizes` must be numbers of rows of at least 1"):
        plan_from_pilot([0.1, 0.2], [0, 1], risk=0.05, sizes=(0,))
