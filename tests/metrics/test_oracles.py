"""Against scikit-learn and plain transcriptions of the published code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from abstain.metrics import augrc, aurc, coverage_at_risk, excess_aurc, fpr_at_tpr, ood_aupr, ood_auroc, risk_coverage

both_sides = st.tuples(
    st.lists(st.integers(0, 10), min_size=1, max_size=30), st.lists(st.integers(0, 10), min_size=1, max_size=30)
)


@given(both_sides)
def test_ood_metrics_agree_with_scikit_learn(sides):
    inside, outside = map(np.array, sides)
    truth, score = np.repeat([1, 0], [len(inside), len(outside)]), np.concatenate(sides)
    assert ood_auroc(inside, outside) == pytest.approx(roc_auc_score(truth, score))
    assert ood_aupr(inside, outside) == pytest.approx(average_precision_score(truth, score))
    assert ood_aupr(inside, outside, positive="out") == pytest.approx(average_precision_score(1 - truth, -score))


@given(both_sides, st.floats(0.01, 1))
def test_fpr_uses_the_highest_threshold_that_keeps_the_positives(sides, tpr):
    inside, outside = map(np.array, sides)
    keeping = [t for t in inside if (inside >= t).mean() >= tpr - 1e-9]
    assert fpr_at_tpr(inside, outside, tpr=tpr) == (outside >= max(keeping)).mean()


@given(both_sides)
def test_augrc_is_a_function_of_accuracy_and_auroc(sides):
    """½r² + (1 − AUROC) r (1 − r), where correct samples are the positives."""
    right, wrong = map(np.array, sides)
    r = len(wrong) / (len(right) + len(wrong))
    result = augrc(np.concatenate(sides), np.repeat([0, 1], [len(right), len(wrong)]))
    assert result == pytest.approx(r**2 / 2 + (1 - ood_auroc(right, wrong)) * r * (1 - r))


def paper_code_aurc(confidence, errors, alpha):
    """The arithmetic of the authors' script on data without ties."""
    n = len(errors)
    wrong = np.asarray(errors)[np.argsort(confidence)]
    risks, left = [wrong.sum() / n], wrong.sum()
    for i in range(n - 1):
        left -= wrong[i]
        risks.append(left / (n - i))
    return np.mean(risks[-int(alpha * n) :])


@pytest.mark.parametrize("alpha", [0.05, 0.29, 0.5, 1.0])
def test_paper_code_convention(alpha):
    rng = np.random.default_rng(1)
    for n in (7, 100):
        c, e = rng.permutation(n), rng.integers(2, size=n)
        expected = paper_code_aurc(c, e, alpha)
        assert aurc(c, e, alpha=alpha, convention="paper_code") == pytest.approx(expected, rel=1e-12)


def test_paper_code_falls_short_of_the_default_by_a_known_sum():
    rng = np.random.default_rng(2)
    c, e = rng.permutation(40), rng.integers(2, size=40)
    risks = np.cumsum(e[np.argsort(-c)]) / np.arange(1, 41)
    gap = -np.sum(risks[:-1] / np.arange(2, 41)) / 40
    assert aurc(c, e, convention="paper_code") - aurc(c, e) == pytest.approx(gap, rel=1e-12)


@given(st.integers(1, 40), st.integers(0, 40))
def test_oracle_has_its_closed_form(n, errors):
    m = min(errors, n)
    e = np.r_[np.zeros(n - m), np.ones(m)]
    closed = (m - (n - m) * sum(1 / i for i in range(n - m + 1, n + 1))) / n
    assert aurc(-e, e) == pytest.approx(closed, abs=1e-13)
    assert excess_aurc(-e, e) == 0


def test_every_point_of_the_curve_is_what_its_threshold_gives():
    rng = np.random.default_rng(3)
    c, e = rng.integers(12, size=200).astype(float), rng.random(200)
    curve = risk_coverage(c, e)
    for coverage, risk, threshold in zip(curve.coverage, curve.risk, curve.threshold, strict=True):
        accepted = c > threshold
        assert coverage == pytest.approx(accepted.mean())
        assert risk == pytest.approx(e[accepted].mean())


def test_coverage_at_risk_is_the_largest_that_holds():
    rng = np.random.default_rng(4)
    c, e = rng.normal(size=300), rng.random(300) < 0.2
    curve = risk_coverage(c, e)
    result = coverage_at_risk(c, e, risk=0.15)
    assert result == curve.coverage[curve.risk <= 0.15].max()
    assert coverage_at_risk([1.0, 0.0], [1, 1], risk=0.5) == 0.0
