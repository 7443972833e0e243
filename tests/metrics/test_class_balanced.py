import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from abstain.metrics import (
    METRICS,
    SampleRows,
    augrc,
    augrc_se,
    aurc,
    aurc_se,
    class_weights,
    risk_at_coverage,
    risk_coverage,
)


def draw(rng, n):
    """A rare class that errs more often and is less trusted."""
    labels = (rng.random(n) < 0.1).astype(int)
    u = rng.random(n)
    return u - 0.3 * labels, rng.random(n) < (0.1 + 0.5 * labels) * (1 - u), labels


def test_the_risk_at_full_coverage_is_one_minus_the_balanced_accuracy():
    _, e, y = draw(np.random.default_rng(0), 500)
    expected = 1 - balanced_accuracy_score(y, np.where(e, 1 - y, y))
    assert risk_at_coverage(np.zeros(500), e, coverage=1, weights=class_weights(y)) == pytest.approx(expected)


def test_every_point_is_a_mean_over_the_classes():
    """Coverage is the mean of the classes' coverages, accepted loss that of their accepted losses."""
    c, e, y = draw(np.random.default_rng(1), 300)
    curve = risk_coverage(c, e, weights=class_weights(y))
    for coverage, risk, threshold in zip(curve.coverage[::20], curve.risk[::20], curve.threshold[::20], strict=True):
        accepted = c > threshold
        assert coverage == pytest.approx(np.mean([accepted[y == k].mean() for k in (0, 1)]))
        lost = np.mean([(accepted & e)[y == k].mean() for k in (0, 1)])
        assert risk == pytest.approx(lost / coverage)


def test_copies_of_a_rare_class_balance_it_too():
    c, e, y = draw(np.random.default_rng(2), 200)
    rare = np.flatnonzero(y == 1)[:10]
    rows = np.concatenate([np.flatnonzero(y == 0)[:100], np.repeat(rare, 10)])
    few = np.concatenate([np.flatnonzero(y == 0)[:100], rare])
    assert augrc(c[few], e[few], weights=class_weights(y[few])) == pytest.approx(augrc(c[rows], e[rows]), rel=1e-12)


@pytest.mark.parametrize("name", ["balanced_aurc", "balanced_augrc"])
def test_the_standard_error_is_the_spread_over_samples(name):
    """One that takes the weights for fixed numbers of the rows is too large by the spread of the classes' shares."""
    rng, result, errors, fixed = np.random.default_rng(3), [], [], []
    for _ in range(300):
        y = (rng.random(500) < 0.3).astype(int)
        c, e = rng.random(500) - 0.3 * y, rng.random(500) < np.where(y, 0.95, 0.05)
        value = METRICS[name](SampleRows.of(e, labels=y).rank(c))
        result.append(value.value)
        errors.append(value.se)
        fixed.append((aurc_se if name == "balanced_aurc" else augrc_se)(c, e, weights=class_weights(y)))
    assert np.mean(errors) == pytest.approx(np.std(result), rel=0.1)
    assert np.mean(fixed) > 1.2 * np.std(result)


def test_no_order_of_rows_changes_a_digit():
    c, e, y = draw(np.random.default_rng(4), 200)
    c, order = c.round(1), np.random.default_rng(5).permutation(200)
    assert aurc(c, e, weights=class_weights(y)) == aurc(c[order], e[order], weights=class_weights(y[order]))
