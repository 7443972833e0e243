"""Closed forms against loops over ranks and against exact arithmetic."""

import mpmath
import numpy as np
import pytest

from abstain._kernels.areas import group_error_areas
from abstain.sketch import Bins, Sketch
from abstain.sketch.areas import error_areas, harmonic, risk_sum

PAIRS = [
    (0, 1),
    (0, 10**8),
    (5, 5),
    (999, 1001),
    (1000, 1000),
    (10**6, 10**6 + 3),
    (10**9, 2 * 10**9),
    (10**12, 10**12 + 7),
]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_harmonic_differences_have_all_their_digits(a, b):
    with mpmath.workdps(40):
        exact = float(mpmath.harmonic(b) - mpmath.harmonic(a))
    assert harmonic(np.array([a]), np.array([b]))[0] == pytest.approx(exact, rel=1e-15, abs=2e-15 if a < 1000 else 0)


@pytest.mark.parametrize("m", [1, 7, 150, 4000, 10_000])
def test_sums_are_those_of_a_loop_over_ranks(m):
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 60, size=400)
    m = min(m, int(counts.sum()))
    errors = np.floor(counts * rng.random(400) ** 2)
    ours, theirs = error_areas(counts, errors, np.array([m]))[0], group_error_areas(counts, errors, np.array([m]))[0]
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert risk_sum(counts, errors, m) == pytest.approx(theirs.risks, rel=1e-13)


def test_one_group_is_its_rate():
    assert error_areas(np.array([10**12]), np.array([10.0**11]), np.array([10**12]))[0].risks == pytest.approx(1e11)


def test_bins_take_the_closed_form_to_the_same_digits():
    rng = np.random.default_rng(1)
    confidence, errors = rng.normal(size=20_000).round(2).astype(np.float32), rng.random(20_000) < 0.1
    closed, looped = (Sketch.of(confidence, errors, bins=Bins(bits)).counts() for bits in (31, 32))
    assert (closed.is_exact, looped.is_exact) == (False, True)
    for each, other in zip(closed.estimates([0.2, 1.0]), looped.estimates([0.2, 1.0]), strict=True):
        assert (each.value, each.se) == pytest.approx((other.value, other.se), rel=1e-12)
