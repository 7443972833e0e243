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
from abstain.scores.energy import Energy
from abstain.scores.given import Own
from abstain.scores.learned import Learned
from abstain.scores.logistic import fit_logistic, log_losses
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


def test_few_rows_give_one_score_back():
    fitted = Learned((MaxSoftmax(), ConfidenceMargin(), Energy())).fit(_mixed(40, 0))
    assert len(fitted.names) <= 2
    same = Learned((MaxSoftmax(),)).fit(_mixed(40, 0))
    fresh = _mixed(500, 9)
    assert (np.argsort(same(fresh)) == np.argsort(MaxSoftmax()(fresh))).all()


def test_many_rows_beat_every_single_score():
    candidates = (MaxSoftmax(), ConfidenceMargin(), Energy())
    fitted, fresh = Learned(candidates).fit(_mixed(2000, 0)), _mixed(5000, 1)
    assert set(fitted.names) >= {"energy"}
    best = min(aurc(score(fresh), fresh.errors) for score in candidates)
    assert aurc(fitted(fresh), fresh.errors) < 0.9 * best


def test_a_useless_score_is_not_chosen():
    rng = np.random.default_rng(3)
    noise = Own("noise", lambda outputs: rng.normal(size=len(outputs)))
    assert "noise" not in Learned((MaxSoftmax(), Energy(), noise)).fit(_mixed(1000, 2)).names


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
