"""Numbers as other libraries print them, against their definitions written out row by row."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import auc, precision_recall_curve

from abstain.metrics import augrc, excess_aurc, fpr_at_tpr, ood_aupr


def sample(seed, n=40, values=None):
    rng = np.random.default_rng(seed)
    confidence = rng.permutation(n).astype(float) if values is None else rng.integers(values, size=n).astype(float)
    return confidence, (rng.random(n) < 0.2 + 0.5 * (confidence < np.median(confidence))).astype(float)


def fd_shifts_area(confidence, losses):
    """Straight lines between the risks at each distinct threshold, level from the first back to coverage 0."""
    thresholds = sorted(set(confidence.tolist()), reverse=True)
    points = [(np.mean(confidence >= t), losses[confidence >= t].mean()) for t in thresholds]
    points = [(0.0, points[0][1]), *points]
    return sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("values", [None, 6])
def test_excess_aurc_of_fd_shifts(seed, values):
    confidence, losses = sample(seed, values=values)
    r = losses.mean()
    expected = fd_shifts_area(confidence, losses) - (r + (1 - r) * np.log(1 - r))
    assert excess_aurc(confidence, losses, convention="fd_shifts") == pytest.approx(expected, rel=1e-12)
    shares = np.where(losses == 1, 0.7, 0.1)
    expected = fd_shifts_area(confidence, shares) - fd_shifts_area(-np.arange(40.0), np.sort(shares))
    assert excess_aurc(confidence, shares, convention="fd_shifts") == pytest.approx(expected, rel=1e-12)


def test_excess_aurc_of_fd_shifts_where_all_is_wrong():
    assert excess_aurc([0.3, 0.2], [1, 1], convention="fd_shifts") == pytest.approx(0)


@pytest.mark.parametrize("seed", range(5))
def test_augrc_of_torch_uncertainty(seed):
    confidence, losses = sample(seed)
    n = len(losses)
    joint = [losses[np.argsort(-confidence)][:k].sum() / n for k in range(1, n + 1)]
    area = sum((a + b) / 2 / n for a, b in pairwise(joint))
    result = augrc(confidence, losses, convention="torch_uncertainty")
    assert result == pytest.approx(area / (1 - 1 / n), rel=1e-12)
    assert result != pytest.approx(augrc(confidence, losses), rel=1e-3)


def test_augrc_of_torch_uncertainty_is_the_mean_over_orders_of_ties():
    confidence, losses = np.array([2.0, 1, 1, 1, 0]), np.array([0.0, 1, 0, 0, 1])
    broken = [
        augrc(confidence + np.array([0, *shift, 0]), losses, convention="torch_uncertainty")
        for shift in ([0.3, 0.2, 0.1], [0.2, 0.3, 0.1], [0.1, 0.3, 0.2])
    ]
    assert augrc(confidence, losses, convention="torch_uncertainty") == pytest.approx(np.mean(broken), rel=1e-12)


@pytest.mark.parametrize("values", [None, 6])
def test_aupr_by_trapezoids(values):
    confidence, unknown = sample(3, values=values)
    inside, outside = confidence[unknown == 0], confidence[unknown == 1]
    for positive, sign, target in (("in", 1, 1 - unknown), ("out", -1, unknown)):
        precision, recall, _ = precision_recall_curve(target, sign * confidence)
        result = ood_aupr(inside, outside, positive=positive, convention="trapezoid")
        assert result == pytest.approx(auc(recall, precision), rel=1e-12)
        assert result != pytest.approx(ood_aupr(inside, outside, positive=positive), rel=1e-4)


def test_fpr_with_ties_is_that_at_the_threshold_and_openood_may_print_more():
    """Two thresholds with equal shares of both kinds: the first finds all that is asked for."""
    from sklearn.metrics import roc_curve

    inside, outside = np.repeat([0.0, 1, 2], 10), np.repeat([0.0, 1, 2], 10)
    fpr, tpr, _ = roc_curve(np.repeat([0, 1], 30), -np.r_[inside, outside])
    assert fpr_at_tpr(inside, outside, tpr=0.5, positive="out") == pytest.approx(2 / 3)
    assert fpr[np.argmax(tpr >= 0.5)] == 1.0


def test_conventions_that_do_not_apply_are_refused():
    with pytest.raises(ValueError, match="`weights` must be left out for convention 'fd_shifts'"):
        excess_aurc([1, 2], [0, 1], weights=[1, 2], convention="fd_shifts")
    with pytest.raises(ValueError, match="`alpha` must be 1 for convention 'fd_shifts'"):
        excess_aurc([1, 2], [0, 1], alpha=0.5, convention="fd_shifts")
    with pytest.raises(ValueError, match="`weights` must be left out for convention 'torch_uncertainty'"):
        augrc([1, 2], [0, 1], weights=[1, 2], convention="torch_uncertainty")
    with pytest.raises(ValueError, match="at least 2 samples for convention 'torch_uncertainty'"):
        augrc([1], [0], convention="torch_uncertainty")
    for metric in (excess_aurc, augrc, ood_aupr):
        with pytest.raises(ValueError, match="`convention` must be one of"):
            metric([1, 2], [0, 1], convention="mine")
