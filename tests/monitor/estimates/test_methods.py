"""Every estimator of risk without labels: what all have in common, and each one where its assumption holds."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.isotonic import IsotonicRegression

from abstain import Outputs
from abstain.monitor import RISK_METHODS
from abstain.monitor.estimates.case import ShiftCase
from abstain.monitor.estimates.confidence import calibrated, share_below
from abstain.monitor.estimates.density_ratio import density_ratio
from abstain.monitor.estimates.weighting import _powers
from abstain.scores import max_softmax

EVERY = pytest.mark.parametrize("method", RISK_METHODS.values(), ids=RISK_METHODS)


def network(n, seed, *, noise=1.0):
    """Logits whose softmax is calibrated where the noise is 1, and the labels."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 4)) * 2 / noise
    labels = (z + rng.gumbel(size=z.shape)).argmax(axis=1)
    return Outputs(logits=z, labels=labels)


def case(known, new):
    return ShiftCase(known, max_softmax(known.logits), known.losses, new, max_softmax(new.logits))


@EVERY
def test_without_a_shift_the_risk_is_that_of_the_reference(method):
    known, new = network(4000, 0), network(4000, 1)
    assert method(case(known, known)) == pytest.approx(known.losses.mean(), abs=0.01)
    assert method(case(known, new)) == pytest.approx(new.losses.mean(), abs=0.03)


@EVERY
def test_neither_the_order_of_rows_nor_labels_of_new_rows_matter(method):
    known, new = network(600, 0), network(500, 1, noise=2.0)
    order = np.random.default_rng(2).permutation
    moved = case(known.select(order(600)), Outputs(logits=new.logits[order(500)], labels=np.zeros(500, int)))
    assert method(moved) == pytest.approx(method(case(known, new)), abs=1e-6)


@EVERY
def test_estimates_stay_between_0_and_1_whatever_the_rows(method):
    rng = np.random.default_rng(0)
    certain = Outputs(logits=[[9.0, 0.0], [8.0, 0.0], [0.0, 7.0]], labels=[0, 0, 1])
    lost = Outputs(logits=rng.normal(size=(7, 2)) / 100, labels=np.zeros(7, int))
    for known, new in ((certain, lost), (lost, certain), (certain, certain), (lost[:1], certain[:1])):
        assert 0 <= method(case(known, new)) <= 1


@EVERY
def test_a_harder_set_of_rows_raises_the_estimate(method):
    known, new = network(4000, 0), network(4000, 1, noise=2.0)  # the classifier is right about how unsure it is
    truth, before = new.losses.mean(), known.losses.mean()
    assert truth > before + 0.1
    assert method(case(known, new)) > before + 0.05


@pytest.mark.parametrize("name", ["cbpe", "doc", "weights", "pape"])
def test_a_shift_among_rows_that_look_alike_is_estimated(name):
    known, new = network(20_000, 0), network(20_000, 1, noise=1.4)
    assert new.losses.mean() > known.losses.mean() + 0.05
    assert RISK_METHODS[name](case(known, new)) == pytest.approx(new.losses.mean(), abs=0.02)


def test_errors_below_one_confidence_are_what_atc_estimates_exactly():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=1000), rng.normal(-0.5, size=1000)
    rows = [Outputs(confidences={"c": c}, errors=c < -1) for c in (a, b)]
    thresholded = ShiftCase(rows[0], a, rows[0].losses, rows[1], b)
    assert RISK_METHODS["atc"](thresholded) == pytest.approx((b < -1).mean(), abs=0.005)


def test_ties_are_counted_in_proportion():
    known = np.array([1.0] * 10 + [2.0] * 10)
    assert share_below(known, np.array([1.0] * 5 + [2.0] * 15), 0.25) == pytest.approx(0.125)
    assert share_below(known, known, 0.0) == 0
    assert share_below(known, np.array([0.0, 1.0]), 0.0) == 0.5


@pytest.mark.parametrize("weighted", [False, True])
def test_the_calibration_is_isotonic_regression(weighted):
    rng = np.random.default_rng(0)
    c = rng.integers(30, size=400).astype(float)
    losses, new = (rng.random(400) < 0.5 - c / 80).astype(float), rng.uniform(-5, 35, 200)
    weights = rng.random(400) + 0.1 if weighted else None
    oracle = IsotonicRegression(increasing=False, out_of_bounds="clip").fit(c, losses, sample_weight=weights)
    np.testing.assert_allclose(calibrated(c, losses, weights, new), oracle.predict(new), atol=1e-9)


def test_infinite_confidences_are_calibrated():
    c = np.array([0.0, 1.0, np.inf, np.inf])
    assert calibrated(c, np.array([1.0, 1.0, 0.0, 1.0]), None, np.array([np.inf, -np.inf])).tolist() == [0.5, 1.0]


def test_the_density_ratio_is_that_of_the_distributions():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=4000), rng.normal(0.7, size=4000)
    ratio = density_ratio(Outputs(confidences={"c": a}), a, Outputs(confidences={"c": b}), b)
    truth = np.exp(0.7 * a - 0.7**2 / 2)
    assert ratio.mean() == pytest.approx(1)
    assert np.average(a, weights=ratio) == pytest.approx(0.7, abs=0.06)
    assert np.abs(np.log(ratio) - np.log(truth))[np.abs(a) < 1.5].max() < 0.25


def test_mano_is_right_where_rows_are_tilted_by_its_statistic():
    rng = np.random.default_rng(0)
    pool, known = network(40_000, 0), network(20_000, 1)
    z = _powers(pool, shortened=True)
    weights = np.exp(-1.5 * (z - z.mean()) / z.std())
    new = pool.select(rng.choice(len(pool), 20_000, p=weights / weights.sum()))
    assert new.losses.mean() > known.losses.mean() + 0.05
    assert RISK_METHODS["mano"](case(known, new)) == pytest.approx(new.losses.mean(), abs=0.02)


def test_the_mano_statistic_is_the_norm_of_the_normalised_logits():
    z = np.array([[1.0, 0.0, -1.0], [3.0, 0.0, 0.0]])
    terms = 1 + z + z**2 / 2
    matrix = terms / terms.sum(axis=1, keepdims=True)
    norm = (np.abs(matrix) ** 4).mean() ** 0.25  # as the paper has it, over the whole matrix
    assert _powers(Outputs(logits=z), shortened=True).mean() ** 0.25 == pytest.approx(norm)


def test_doc_reads_the_softmax_not_the_score_of_the_selector():
    known, new = network(500, 0), network(500, 1, noise=3.0)
    other = ShiftCase(known, np.zeros(500), known.losses, new, np.zeros(500))
    chance = [softmax(rows.logits, axis=1).max(axis=1).mean() for rows in (known, new)]
    assert RISK_METHODS["doc"](other) == pytest.approx(known.losses.mean() + chance[0] - chance[1])


def test_a_method_that_needs_probabilities_says_so():
    rows = Outputs(confidences={"c": [0.1, 0.9]}, errors=[True, False])
    c = rows.confidence("c")
    reasons = {
        name: method.objection(ShiftCase(rows, c, rows.losses, rows, c)) for name, method in RISK_METHODS.items()
    }
    assert {name for name, reason in reasons.items() if reason} == {"doc", "mano"}
