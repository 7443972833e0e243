import numpy as np
import pytest

from abstain import Outputs
from abstain.metrics import (
    aurc,
    aurc_interval,
    aurc_se,
    compare,
    compare_all,
    coverage_at_risk,
    fpr_at_tpr,
    normalized_aurc,
    ood_aupr,
    ood_auroc,
    risk_at_coverage,
    risk_coverage,
    slices,
)
from abstain.metrics.slices import share
from abstain.thresholds.sample import cluster_numbers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "`confidence` must have shape .* at least one sample"),
        (([[1.0]], [1]), "`confidence` must have shape"),
        (([1.0, 2.0], [1]), "`confidence` and `losses` must be of one length, got 2 and 1"),
        (([1.0, np.nan], [1, 0]), "`confidence` must not be NaN, got nan in 1 of 2 rows, first in row 1"),
        (([1.0, 2.0], [1, 2]), "`losses` must be between 0 and 1, got 2.0 in 1 of 2 rows, first in row 1"),
        (([1.0, 2.0], [0, np.nan]), "`losses` must be between 0 and 1"),
    ],
)
def test_bad_samples(arguments, message):
    for metric in (aurc, aurc_se, risk_coverage, normalized_aurc):
        with pytest.raises(ValueError, match=message):
            metric(*arguments)


def test_words_are_not_numbers():
    with pytest.raises(TypeError, match="`losses` must be numbers"):
        aurc([1.0, 2.0], ["right", "wrong"])


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -1.0], [1.0, np.inf]])
def test_weights_must_be_positive(weights):
    with pytest.raises(ValueError, match="`weights` must be positive and finite"):
        aurc([1.0, 2.0], [0, 1], weights=weights)


@pytest.mark.parametrize("alpha", [0, -0.1, 1.1, np.nan])
def test_alpha_is_a_share(alpha):
    with pytest.raises(ValueError, match="`alpha` must be above 0 and at most 1"):
        aurc([1.0], [0], alpha=alpha)


def test_conventions_say_what_they_cannot():
    with pytest.raises(ValueError, match="`convention` must be one of mean, continuous"):
        aurc([1.0], [0], convention="area")
    with pytest.raises(ValueError, match="`alpha` must be 1 for convention 'trapezoid'"):
        aurc([1.0], [0], alpha=0.5, convention="trapezoid")
    with pytest.raises(ValueError, match="`weights` must be left out"):
        aurc([1.0, 2.0], [0, 1], weights=[1, 2], convention="fd_shifts")
    with pytest.raises(ValueError, match="at least 2 samples"):
        aurc([1.0], [0], convention="torch_uncertainty")


def test_one_sample_has_an_aurc_but_no_standard_error():
    assert aurc([0.3], [1]) == 1.0
    with pytest.raises(ValueError, match="A standard error must have at least 2 different samples, got 1"):
        aurc_se([0.3], [1])


def test_one_cluster_has_no_standard_error():
    with pytest.raises(ValueError, match="at least 2 different samples"):
        aurc_se([0.3, 0.2], [1, 0], ids=["a", "a"])


@pytest.mark.parametrize("loss", [0, 1])
def test_all_right_and_all_wrong(loss):
    c, e = [0.1, 0.5, 0.5], [loss] * 3
    assert aurc(c, e) == loss
    assert aurc_se(c, e) == 0
    with pytest.raises(ValueError, match=f"`losses` must differ .* got {loss} for all"):
        normalized_aurc(c, e)


def test_samples_at_minus_infinity_are_never_accepted():
    curve = risk_coverage([1.0, -np.inf], [0, 1])
    assert curve.coverage.tolist() == [0.5]
    assert aurc([1.0, -np.inf], [0, 1]) == 0.25


def test_other_arguments():
    with pytest.raises(ValueError, match="`coverage` must be above 0"):
        risk_at_coverage([1.0], [0], coverage=0)
    with pytest.raises(ValueError, match="`risk` must be between 0 and 1"):
        coverage_at_risk([1.0], [0], risk=2)
    with pytest.raises(ValueError, match="`level` must be between 0 and 1"):
        aurc_interval([1.0, 2.0], [0, 1], level=95)
    with pytest.raises(ValueError, match="`ids` must have shape"):
        compare([1.0, 2.0], [2.0, 1.0], [0, 1], ids=[1])
    with pytest.raises(ValueError, match="`conf_out` must have shape"):
        ood_auroc([1.0], [])
    with pytest.raises(ValueError, match="`positive` must be 'in' or 'out'"):
        ood_aupr([1.0], [0.0], positive="id")
    with pytest.raises(ValueError, match="`tpr` must be"):
        fpr_at_tpr([1.0], [0.0], tpr=95)
    with pytest.raises(ValueError, match="`alpha` must be 1 with weights"):
        normalized_aurc([1.0, 2.0], [0, 1], weights=[1, 2], alpha=0.5)


def test_weighted_risk_at_coverage_counts_weight():
    assert risk_at_coverage([3.0, 2.0, 1.0], [0, 1, 1], coverage=0.5, weights=[2, 1, 1]) == 0.0
    assert risk_at_coverage([3.0, 2.0, 1.0], [0, 1, 1], coverage=0.6, weights=[2, 1, 1]) == pytest.approx(1 / 3)


def test_comparing_all_needs_names():
    with pytest.raises(TypeError, match="`confidences` must be a dictionary of confidences by name, got list"):
        compare_all([[1.0, 2.0]], [0, 1])


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (np.ma.array([1, 1, 2, 3], mask=[0, 1, 0, 0]), "`ids` must have a value everywhere, got 1 masked values"),
        ([1, 1, 2, np.nan], "`ids` must be strings or integers, got float64"),
        (["a", "a", "b", None], "`ids` must hold numbers or strings, got Python objects"),
    ],
)
def test_missing_ids_are_refused_as_in_outputs(ids, message):
    c, e = [0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1]
    calls = [
        lambda: aurc_interval(c, e, ids=ids),
        lambda: share(e, ids=ids),
        lambda: slices(["x"] * 4, [True] * 4, e, ids=ids),
        lambda: Outputs(logits=2 * np.eye(4), ids=ids),
    ]
    for call in calls:
        with pytest.raises((TypeError, ValueError), match=message):
            call()


def test_masked_ids_are_refused_in_thresholds():
    with pytest.raises(ValueError, match="`ids` must have a value everywhere"):
        cluster_numbers(np.ma.array([1, 1], mask=[0, 1]), 2)
