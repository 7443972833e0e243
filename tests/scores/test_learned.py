"""The learned score: its parts against independent computations, and what it does with few and with many rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import ndtri

from abstain import Outputs
from abstain.metrics import aurc
from abstain.scores import SCORES
from abstain.scores.confidence_margin import ConfidenceMargin
from abstain.scores.delta_knn import DeltaKNN
from abstain.scores.energy import Energy
from abstain.scores.given import Own
from abstain.scores.learned import Learned, _simplest
from abstain.scores.logistic import fit_logistic, held_out_losses, log_losses
from abstain.scores.max_softmax import MaxSoftmax
from abstain.scores.quantile_map import QuantileMap
from abstain.scores.score import CannotFitError
from abstain.scores.state import from_state, to_state

NUMBERS = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=40)


def _mixed(n, seed):
    """Rows with two kinds of errors: ambiguous ones, which the margin sees, and faint ones, which the energy sees."""
    rng = np.random.default_rng(seed)
    labels, unknown = rng.integers(3, size=n), rng.random(n) < 0.3
    logits = rng.normal(scale=2, size=(n, 3)) + 4 * np.eye(3)[labels]
    logits += (rng.normal(scale=2, size=n) - 6 * unknown - logits.max(axis=1))[:, None]
    return Outputs(logits=logits, labels=np.where(unknown, -1, labels), ids=np.arange(n))


@given(NUMBERS)
def test_a_quantile_map_never_changes_an_order(values):
    values = np.array(values)
    places = QuantileMap.of(values)(values)
    order = np.argsort(values, kind="stable")
    assert (np.diff(places[order]) >= 0).all()


def test_the_map_of_a_knot_is_its_normal_quantile():
    values = np.arange(16.0)
    found = QuantileMap.of(values)
    np.testing.assert_allclose(found(values), ndtri((np.arange(16) + 0.5) / 16), atol=1e-12)


def test_the_map_goes_on_rising_beyond_its_sample_but_not_far():
    places = QuantileMap.of(np.arange(100.0))(np.array([-np.inf, -1e3, -1.0, 99.0, 100.0, 1e3, np.inf]))
    assert (np.diff(places) > 0).all()
    assert np.ptp(places) < 2 * ndtri(1 - 0.5 / 100) + 2


def test_logistic_regression_finds_the_lowest_penalized_log_loss():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 3))
    right = (rng.random(200) < 1 / (1 + np.exp(-columns @ [1.0, -2.0, 0.0]))).astype(float)

    def objective(b):
        return log_losses(b[0] + columns @ b[1:], right).sum() + 0.5 * 2.0 * (b[1:] ** 2).sum()

    found = fit_logistic(columns, right, ridge=2.0)
    np.testing.assert_allclose(found, minimize(objective, np.zeros(4), tol=1e-12).x, atol=1e-4)


def test_separable_rows_have_finite_weights():
    columns = np.linspace(-1, 1, 20)[:, None]
    assert np.isfinite(fit_logistic(columns, (columns[:, 0] > 0).astype(float), ridge=1.0)).all()


def _noise(seed):
    rng = np.random.default_rng(seed)
    return Own("noise", lambda outputs: rng.normal(size=len(outputs)))


def test_rows_that_speak_for_no_other_score_leave_the_first_alone():
    alone = [Learned((MaxSoftmax(), _noise(seed))).fit(_mixed(50, seed)).names for seed in range(20)]
    assert alone.count(("max_softmax",)) >= 15


def test_many_rows_beat_every_single_score():
    candidates = (MaxSoftmax(), ConfidenceMargin(), Energy())
    fitted, fresh = Learned(candidates).fit(_mixed(2000, 0)), _mixed(5000, 1)
    assert set(fitted.names) >= {"energy"}
    best = min(aurc(score(fresh), fresh.errors) for score in candidates)
    assert aurc(fitted(fresh), fresh.errors) < 0.9 * best


def test_a_useless_score_has_little_weight():
    fitted = Learned((MaxSoftmax(), Energy(), _noise(3))).fit(_mixed(1000, 2))
    weights = dict(zip(fitted.names, fitted.weights[1:], strict=True))
    assert abs(weights["noise"]) < 0.1 * weights["energy"]


def test_a_class_that_is_often_wrong_is_trusted_less():
    sample = _mixed(3000, 7)
    labels = np.where(sample.predictions == 2, -1, sample.labels)
    fitted = Learned((MaxSoftmax(), Energy())).fit(Outputs(logits=sample.logits, labels=labels))
    assert fitted.offsets.argmin() == 2
    assert fitted.expects()["classes"] == 3


def test_a_score_of_right_and_wrong_is_fitted_on_rows_of_every_kind(digits):
    sample = digits.select(np.arange(0, len(digits), 5))
    fitted = Learned((MaxSoftmax(),), anywhere=(DeltaKNN(),)).fit(sample)
    assert fitted.names == ("max_softmax", "delta_knn")
    delta = fitted.scores[1]
    assert len(delta.bank) - delta.right > (sample.errors & (sample.shift == "none")).sum()


@given(st.floats(0.5, 2), st.floats(0.5, 2))
def test_of_ridges_within_half_a_standard_error_the_strongest_is_taken(first, second):
    losses = {1.0: np.array([0.0, 1.0] * 50), 2.0: np.array([0.0, 1.0] * 50) * first, np.inf: np.full(100, second)}
    means = {ridge: each.mean() for ridge, each in losses.items()}
    found = _simplest(losses)
    best = losses[min(means, key=means.get)]
    assert (losses[found] - best).mean() <= (losses[found] - best).std() / 20 + 1e-12
    assert all((each - best).mean() > (each - best).std() / 20 for ridge, each in losses.items() if ridge > found)


def test_each_column_has_its_own_ridge():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 2))
    right = (columns.sum(axis=1) > 0).astype(float)
    found = fit_logistic(columns, right, ridge=np.array([1.0, 1e6]))
    assert found[1] > 1
    assert abs(found[2]) < 1e-3


def test_losses_of_rows_held_out_are_those_of_a_fit_without_them():
    rng = np.random.default_rng(0)
    columns, right, fold = rng.normal(size=(60, 2)), (rng.random(60) < 0.6).astype(float), np.arange(60) % 3
    found = held_out_losses(columns, right, fold, ridge=1.0)
    weights = fit_logistic(columns[fold != 1], right[fold != 1], ridge=1.0)
    expected = log_losses(weights[0] + columns[fold == 1] @ weights[1:], right[fold == 1])
    np.testing.assert_allclose(found[fold == 1], expected)


def test_the_confidence_is_the_log_odds_of_being_right():
    fitted, fresh = Learned((MaxSoftmax(), Energy())).fit(_mixed(4000, 4)), _mixed(8000, 5)
    chance = SCORES["learned"].literal(fitted(fresh))
    for low in (0.0, 0.5, 0.9):
        here = (chance >= low) & (chance < low + 0.1)
        if here.sum() > 200:
            assert abs(chance[here].mean() - (~fresh.errors[here]).mean()) < 0.1


def test_copies_of_a_sample_count_once():
    sample = _mixed(300, 6)
    twice = Outputs.concat([sample, sample, sample])
    assert len(twice) == 900
    once, thrice = (Learned((MaxSoftmax(), Energy())).fit(one) for one in (sample, twice))
    np.testing.assert_allclose(once.weights, thrice.weights, rtol=0.5)


def test_the_order_of_rows_changes_nothing_but_the_draw(digits):
    sample = digits.select(np.arange(0, len(digits), 7))
    assert Learned((MaxSoftmax(), Energy())).fit(sample).names == Learned((MaxSoftmax(), Energy())).fit(sample).names


@pytest.mark.parametrize("wrong", [0, 4, 56, 60])
def test_too_few_errors_give_the_order_of_the_first_candidate(wrong):
    z = np.random.default_rng(0).normal(size=(60, 3))
    labels = np.where(np.arange(60) < wrong, (z.argmax(axis=1) + 1) % 3, z.argmax(axis=1))
    fitted = Learned((MaxSoftmax(), Energy())).fit(Outputs(logits=z, labels=labels))
    fresh = _mixed(200, 0)
    np.testing.assert_array_equal(np.argsort(fitted(fresh)), np.argsort(MaxSoftmax()(fresh)))


def test_rows_that_show_nothing_are_an_error():
    outputs = Outputs(logits=np.eye(3)[np.arange(60) % 3] * 9, labels=np.arange(60) % 3)
    with pytest.raises(CannotFitError, match="determines none of the scores to learn from"):
        Learned((MaxSoftmax(),)).fit(outputs)


def test_it_says_which_scores_carry_the_weight():
    fitted = Learned((MaxSoftmax(), Energy())).fit(_mixed(2000, 0))
    assert fitted.note(np.zeros(1)).startswith("learned weighs ")
    assert "energy +" in fitted.note(np.zeros(1))


def test_a_selector_file_can_hold_it(digits):
    fitted = SCORES["learned"].fit(digits.select(np.arange(0, len(digits), 4)))
    again = from_state(*to_state(fitted))
    np.testing.assert_array_equal(again(digits), fitted(digits))
