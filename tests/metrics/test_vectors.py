"""Values computed independently (exact fractions, float64 by other code)."""

import numpy as np
import pytest

from abstain.metrics import (
    augrc,
    augrc_se,
    aurc,
    aurc_se,
    compare,
    excess_aurc,
    fpr_at_tpr,
    normalized_aurc,
    ood_aupr,
    ood_auroc,
    risk_at_coverage,
    risk_coverage,
)

# Heavy ties.
S1 = [0.9, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.4, 0.2, 0.1]
E1 = [0, 1, 0, 0, 1, 0, 1, 0, 1, 1]
# No ties, and a second score on the same samples.
S2 = [0.95, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]
E2 = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
S3 = [0.9, 0.95, 0.2, 0.8, 0.6, 0.7, 0.5, 0.3, 0.4, 0.85]


def test_aurc_with_ties():
    assert aurc(S1, E1) == pytest.approx(37 / 112, rel=1e-15)
    assert aurc(S1, E1, alpha=0.3) == pytest.approx(0.1944444444444444, rel=1e-14)
    assert aurc(S1, E1, alpha=0.5) == pytest.approx(0.2333333333333333, rel=1e-14)
    assert aurc_se(S1, E1) == pytest.approx(0.17300181821220, rel=1e-12)


def test_expected_risk_at_every_coverage():
    expected = [0, 1 / 4, 1 / 3, 1 / 4, 1 / 3, 7 / 18, 3 / 7, 3 / 8, 4 / 9, 1 / 2]
    result = [risk_at_coverage(S1, E1, coverage=k / 10) for k in range(1, 11)]
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_reachable_points_leave_out_the_inside_of_ties():
    curve = risk_coverage(S1, E1)
    np.testing.assert_allclose(curve.coverage, [0.1, 0.3, 0.4, 0.7, 0.8, 0.9, 1.0])
    np.testing.assert_allclose(curve.risk, [0, 1 / 3, 1 / 4, 3 / 7, 3 / 8, 4 / 9, 1 / 2])
    assert curve.reaches(0.3)
    assert not curve.reaches(0.2)


@pytest.mark.parametrize(
    ("convention", "expected"),
    [
        ("trapezoid", 0.3053571428571),
        ("torch_uncertainty", 0.3392857142857),
        ("fd_shifts", 0.2926587301587),
        ("paper_code", 0.2836111111111),
    ],
)
def test_other_conventions(convention, expected):
    assert aurc(S1, E1, convention=convention) == pytest.approx(expected, rel=1e-12)


def test_partial_areas_of_the_paper_code():
    assert aurc(S1, E1, alpha=0.3, convention="paper_code") == pytest.approx(0.1388888888889, rel=1e-12)
    assert aurc(S1, E1, alpha=0.5, convention="paper_code") == pytest.approx(0.1788888888889, rel=1e-12)


def test_excess_and_normalized():
    assert aurc(S1, E1) - excess_aurc(S1, E1) == pytest.approx(893 / 5040, rel=1e-13)
    assert excess_aurc(S1, E1) == pytest.approx(0.1531746031746, rel=1e-12)
    assert normalized_aurc(S1, E1) == pytest.approx(0.4744929317763, rel=1e-12)


def test_augrc():
    assert augrc(S1, E1) == pytest.approx(0.19, rel=1e-14)
    assert augrc(S2, E2) == pytest.approx(0.165, rel=1e-14)
    assert augrc_se(S2, E2) == pytest.approx(0.08180260794539, rel=1e-12)


def test_failure_auroc():
    wrong = np.array(E1, dtype=bool)
    assert ood_auroc(np.array(S1)[~wrong], np.array(S1)[wrong]) == pytest.approx(0.74)


def test_without_ties_and_paired():
    assert aurc(S2, E2) == pytest.approx(0.2721825396825397, rel=1e-14)
    assert aurc_se(S2, E2) == pytest.approx(0.14412899506887, rel=1e-12)
    assert aurc(S3, E2) == pytest.approx(0.2921825396825397, rel=1e-14)
    comparison = compare(S3, S2, E2)
    assert comparison.difference == pytest.approx(0.02, rel=1e-12)
    assert comparison.se == pytest.approx(0.08940764161659, rel=1e-12)


def test_weights():
    s, e, w = [0.9, 0.8, 0.7, 0.6, 0.5], [0, 1, 0, 1, 1], [1, 2, 0.5, 3, 1.5]
    assert aurc(s, e, weights=w) == pytest.approx(0.6431862408424909, rel=1e-14)
    assert aurc(s, e, weights=w, convention="continuous") == pytest.approx(0.5587089014012131, rel=1e-14)
    np.testing.assert_allclose(
        risk_coverage(s, e, weights=w).risk, [0, 0.666667, 0.571429, 0.769231, 0.8125], rtol=1e-6
    )


def test_ood_metrics():
    inside, outside = [0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2]
    assert ood_auroc(inside, outside) == pytest.approx(0.7)
    assert ood_aupr(inside, outside) == pytest.approx(0.8261904762)
    assert ood_aupr(inside, outside, positive="out") == pytest.approx(0.6666667)
    assert fpr_at_tpr(inside, outside) == pytest.approx(0.6666667)
    assert fpr_at_tpr(inside, outside, positive="out") == pytest.approx(0.6)


def test_bias_of_a_finite_sample():
    """For a local error rate u the expected AURC of n samples is (n + 3) / (4(n + 1))."""
    u = np.arange(1, 11) / 11
    assert aurc(-u, u) == pytest.approx(13 / 44, rel=1e-14)


def test_harmonic_sums_stay_exact_over_many_samples():
    """One error at the last rank has weight 1/n, one at the first H_n/n."""
    n = 200_000
    e = np.zeros(n)
    e[0] = 1
    harmonic = np.log(n) + np.euler_gamma + 1 / (2 * n) - 1 / (12 * n**2)
    assert aurc(-np.arange(n), e) == pytest.approx(harmonic / n, rel=1e-13)
    assert aurc(np.arange(n), e) == pytest.approx(1 / n**2, rel=1e-13)
