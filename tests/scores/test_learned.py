"""The learned score: its parts against independent computations, and what it does with few and with many rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, ndtri, softmax
from scipy.stats import rankdata

from abstain import Outputs
from abstain.metrics import aurc
from abstain.scores import SCORES
from abstain.scores.given_confidence import Own
from abstain.scores.held_out import folds, some_rows
from abstain.scores.learned import Learned
from abstain.scores.logistic import OF_BASE, OF_CLASSES, RIDGES, fit_logistic, held_out_losses, log_losses, weigh
from abstain.scores.logit_scores import ConfidenceMargin, Energy, MaxSoftmax
from abstain.scores.neighbours import KNN, DeltaKNN
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
    positions = QuantileMap.of(values)(values)
    order = np.argsort(values, kind="stable")
    assert (np.diff(positions[order]) >= 0).all()


def test_the_map_of_a_knot_is_its_normal_quantile():
    values = np.arange(16.0)
    result = QuantileMap.of(values)
    np.testing.assert_allclose(result(values), ndtri((np.arange(16) + 0.5) / 16), atol=1e-12)


def test_the_map_goes_on_rising_beyond_its_sample_but_not_far():
    positions = QuantileMap.of(np.arange(100.0))(np.array([-np.inf, -1e3, -1.0, 99.0, 100.0, 1e3, np.inf]))
    assert (np.diff(positions) > 0).all()
    assert np.ptp(positions) < 2 * ndtri(1 - 0.5 / 100) + 2


def test_logistic_regression_finds_the_lowest_penalized_log_loss():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 3))
    right = (rng.random(200) < 1 / (1 + np.exp(-columns @ [1.0, -2.0, 0.0]))).astype(float)

    def objective(b):
        return log_losses(b[0] + columns @ b[1:], right).sum() + 0.5 * 2.0 * (b[1:] ** 2).sum()

    result = fit_logistic(columns, right, ridge=2.0)
    np.testing.assert_allclose(result, minimize(objective, np.zeros(4), tol=1e-12).x, atol=1e-4)


def test_separable_rows_have_finite_weights():
    columns = np.linspace(-1, 1, 20)[:, None]
    assert np.isfinite(fit_logistic(columns, (columns[:, 0] > 0).astype(float), ridge=1.0)).all()


def _noise(seed):
    rng = np.random.default_rng(seed)
    return Own("noise", lambda outputs: rng.normal(size=len(outputs)))


def test_fifty_rows_of_noise_hardly_change_the_order_of_the_base():
    for seed in range(10):
        fitted, fresh = Learned((MaxSoftmax(),), (_noise(seed),)).fit(_mixed(50, seed)), _mixed(500, 99)
        alike = np.corrcoef(rankdata(fitted(fresh)), rankdata(MaxSoftmax()(fresh)))[0, 1]
        assert alike > 0.7


def test_many_rows_beat_every_single_score():
    candidates = (MaxSoftmax(), ConfidenceMargin(), Energy())
    fitted, fresh = Learned(candidates[:1], candidates[1:]).fit(_mixed(2000, 0)), _mixed(5000, 1)
    assert set(fitted.names) >= {"energy"}
    best = min(aurc(score(fresh), fresh.errors) for score in candidates)
    assert aurc(fitted(fresh), fresh.errors) < 0.9 * best


def test_a_useless_score_has_little_weight():
    fitted = Learned((MaxSoftmax(),), (Energy(), _noise(3))).fit(_mixed(1000, 2))
    weights = dict(zip(fitted.names, fitted.weights[1:], strict=True))
    assert weights.get("noise", 0.0) < 0.1 * weights["energy"]


def test_a_class_that_is_often_wrong_is_trusted_less():
    sample = _mixed(3000, 7)
    labels = np.where(sample.predictions == 2, -1, sample.labels)
    fitted = Learned((MaxSoftmax(),), (Energy(),)).fit(Outputs(logits=sample.logits, labels=labels))
    assert fitted.offsets.argmin() == 2
    assert fitted.expects()["classes"] == 3


def test_a_score_of_right_and_wrong_is_fitted_on_rows_of_every_kind(digits):
    sample = digits.select(np.arange(0, len(digits), 5))
    fitted = Learned((MaxSoftmax(),), anywhere=(DeltaKNN(),)).fit(sample)
    assert fitted.names == ("max_softmax", "delta_knn")
    delta = fitted.scores[1]
    assert len(delta.bank) - delta.right > (sample.errors & (sample.shift == "none")).sum()


def _rows(n, seed):
    """Places of three scores, two of them telling, predicted classes and folds."""
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(n, 3))
    right = (rng.random(n) < 1 / (1 + np.exp(-1 - positions @ [1.0, 0.5, -0.3]))).astype(float)
    return positions, rng.integers(2, size=n), right, np.arange(n) % 5


def test_weights_are_those_of_all_ridges_averaged_by_the_likelihood_of_held_out_rows():
    positions, predictions, right, fold = _rows(80, 0)
    mean = positions[:, :2].mean(axis=1, keepdims=True)
    columns = np.column_stack([mean, positions, predictions[:, None] == np.argsort(-np.bincount(predictions))])
    rising, at = np.arange(6) < 4, np.zeros((len(RIDGES) + 1, 7))
    at[-1, :2] = fit_logistic(mean, right, ridge=OF_BASE)
    losses = [*RIDGES, held_out_losses(mean, right, fold, ridge=OF_BASE).sum()]
    for row, ridge in enumerate(RIDGES):
        each = np.array([OF_BASE, *[ridge] * 3, *[ridge * OF_CLASSES] * 2])
        at[row] = fit_logistic(columns, right, ridge=each, rising=rising)
        losses[row] = held_out_losses(columns, right, fold, ridge=each, rising=rising).sum()
    expected = softmax(-np.array(losses)) @ at
    result = weigh(positions, predictions, right, fold, base=2, classes=2)
    np.testing.assert_allclose(result.intercept, expected[0])
    np.testing.assert_allclose(result.scores, expected[2:5] + expected[1] / 2 * np.array([1, 1, 0]))
    assert len(result.others) == 2


def test_a_score_never_counts_against_itself():
    positions, predictions, right, fold = _rows(2000, 1)
    result = weigh(positions, predictions, right, fold, base=1, classes=2)
    assert result.scores[2] == 0
    assert (result.scores[:2] > 0.2).all()


@given(seed=st.integers(0, 10**6), ridge=st.sampled_from([0.3, 3.0, 100.0]), alike=st.floats(0, 0.99))
def test_coefficients_that_must_not_fall_are_those_of_the_bounded_minimum(seed, ridge, alike):
    rng = np.random.default_rng(seed)
    columns = (1 - alike) * rng.normal(size=(60, 6)) + alike * rng.normal(size=(60, 1))
    right = (rng.random(60) < 1 / (1 + np.exp(-1 - columns @ rng.normal(scale=2, size=6)))).astype(float)
    rising = np.arange(6) < 4

    def objective(b):
        return log_losses(b[0] + columns @ b[1:], right).sum() + 0.5 * ridge * (b[1:] ** 2).sum()

    def gradient(b):
        apart = expit(b[0] + columns @ b[1:]) - right
        return np.append(apart.sum(), columns.T @ apart + ridge * b[1:])

    bounds = [(None, None), *[(0, None)] * 4, *[(None, None)] * 2]
    tight = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000}
    expected = minimize(objective, np.zeros(7), jac=gradient, bounds=bounds, method="L-BFGS-B", options=tight)
    result = fit_logistic(columns, right, ridge=ridge, rising=rising)
    assert (result[1:5] >= 0).all()
    assert objective(result) <= expected.fun + 1e-6


@pytest.mark.parametrize("seed", [53, 172, 296, 395])
def test_a_coefficient_that_is_pressed_on_its_bound_does_not_hold_up_the_others(seed):
    rng = np.random.default_rng(seed)
    mixed = rng.random((300, 2)) @ rng.normal(size=(2, 15)) + 0.001 * rng.normal(size=(300, 15))
    columns, true = mixed.argsort(0).argsort(0) / 300, 5 * rng.normal(size=15)
    right = (rng.random(300) < expit(columns @ true - true.sum() / 2 + 2)).astype(float)
    result = fit_logistic(columns, right, ridge=1e-3, rising=np.ones(15, bool))
    slope = columns.T @ (expit(result[0] + columns @ result[1:]) - right) + 1e-3 * result[1:]
    np.testing.assert_allclose(slope[result[1:] > 0], 0, atol=1e-3)
    assert (slope[result[1:] == 0] > -1e-3).all()


def test_a_base_that_points_the_wrong_way_keeps_its_order():
    positions, predictions, _, fold = _rows(50, 2)
    result = weigh(positions[:, :1], predictions, (positions[:, 0] < 0).astype(float), fold, base=1, classes=2)
    assert result.scores[0] > 0


def test_the_base_is_the_mean_place_of_its_scores():
    labels = np.zeros(60, dtype=int)
    z = np.random.default_rng(0).normal(size=(60, 3)) + 9 * np.eye(3)[0]
    fitted = Learned((MaxSoftmax(), Energy())).fit(Outputs(logits=z, labels=labels))
    assert fitted.names == ("max_softmax", "energy")
    assert fitted.weights[1] == fitted.weights[2]


def test_each_column_has_its_own_ridge():
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(200, 2))
    right = (columns.sum(axis=1) > 0).astype(float)
    result = fit_logistic(columns, right, ridge=np.array([1.0, 1e6]))
    assert result[1] > 1
    assert abs(result[2]) < 1e-3


def test_losses_of_rows_held_out_are_those_of_a_fit_without_them():
    rng = np.random.default_rng(0)
    columns, right, fold = rng.normal(size=(60, 2)), (rng.random(60) < 0.6).astype(float), np.arange(60) % 3
    result = held_out_losses(columns, right, fold, ridge=1.0)
    weights = fit_logistic(columns[fold != 1], right[fold != 1], ridge=1.0)
    expected = log_losses(weights[0] + columns[fold == 1] @ weights[1:], right[fold == 1])
    np.testing.assert_allclose(result[fold == 1], expected)


def test_the_confidence_is_the_log_odds_of_being_right():
    fitted, fresh = Learned((MaxSoftmax(),), (Energy(),)).fit(_mixed(4000, 4)), _mixed(8000, 5)
    chance = SCORES["learned"].literal(fitted(fresh))
    for low in (0.0, 0.5, 0.9):
        here = (chance >= low) & (chance < low + 0.1)
        if here.sum() > 200:
            assert abs(chance[here].mean() - (~fresh.errors[here]).mean()) < 0.1


def _same(single, other):
    """Whether two fits are equal to the bit."""
    (header, arrays), (same, others) = to_state(single), to_state(other)
    return header == same and all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)


def _ids_of(kind, n):
    return None if kind == "none" else np.arange(n) // 2 if kind == "pairs" else [f"row {row}" for row in range(n)]


@pytest.mark.parametrize("kind", ["none", "pairs", "names"])
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(60)), few=st.booleans())
def test_the_order_of_rows_changes_nothing(kind, seed, order, few):
    z = np.random.default_rng(seed).normal(scale=2, size=(60, 3))
    z = np.round(z) if few else z  # many copies, some of them with another label
    labels = np.random.default_rng(seed + 1).integers(-1, 3, size=60)
    sample = Outputs(logits=z, features=np.abs(z), weight=np.eye(3), labels=labels, ids=_ids_of(kind, 60))
    score = Learned((MaxSoftmax(),), (Energy(), KNN()), (DeltaKNN(),))
    assert _same(score.fit(sample), score.fit(sample.select(order)))


def test_another_order_of_real_rows_gives_the_same_score(digits):
    sample = digits.select(np.arange(0, len(digits), 7))
    order = np.random.default_rng(0).permutation(len(sample))
    assert _same(SCORES["learned"].fit(sample), SCORES["learned"].fit(sample.select(order)))


def test_the_order_of_classes_changes_nothing_where_rows_share_ids(digits):
    sample = digits.select(np.arange(0, len(digits), 3))
    order = np.random.default_rng(1).permutation(sample.n_classes)
    labels = np.where(sample.labels < 0, sample.labels, np.argsort(order)[sample.labels])
    other = Outputs(
        logits=sample.logits[:, order],
        labels=labels,
        features=sample.features,
        weight=sample.weight[order],
        bias=sample.bias[order],
        ids=sample.ids,
    )
    assert sample.clusters is not None
    same = Outputs(
        logits=sample.logits,
        labels=sample.labels,
        features=sample.features,
        weight=sample.weight,
        bias=sample.bias,
        ids=sample.ids,
    )
    expected, result = (SCORES["learned"].fit(each)(each) for each in (same, other))
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_copies_of_a_sample_count_once():
    sample = _mixed(300, 6)
    thrice = Outputs.concat([sample, sample, sample])
    assert _same(*(Learned((MaxSoftmax(),), (Energy(),)).fit(each) for each in (sample, thrice)))


def test_of_several_labels_of_a_sample_none_is_preferred():
    rng = np.random.default_rng(0)
    logits = np.repeat(rng.normal(size=(3000, 2)), 3, axis=0)
    labels = np.tile([0, 0, 1], 3000)
    kept = some_rows(Outputs(logits=logits, labels=labels, ids=np.repeat(np.arange(3000), 3)))
    assert len(kept) == 3000
    assert abs(np.mean(kept.labels) - 1 / 3) < 0.03


def test_folds_are_of_like_size_where_features_are_the_logits():
    logits = np.sort(np.random.default_rng(0).normal(size=(500, 3)), axis=1)
    assert np.bincount(folds(Outputs(logits=logits, features=logits, labels=np.zeros(500, int)))).max() <= 101


def test_copies_of_a_row_are_in_the_same_fold_and_folds_of_like_size():
    rows = _mixed(1000, 8)
    bare = Outputs(logits=np.vstack([rows.logits, -0.0 + rows.logits]), labels=np.tile(rows.labels, 2))
    for each in (bare, Outputs.concat([rows, rows])):
        result = folds(each)
        np.testing.assert_array_equal(result[:1000], result[1000:])
        assert np.bincount(result).tolist() == [400] * 5


def test_folds_tell_nothing_of_confidence_label_or_name():
    rows = _mixed(2000, 9)
    for each in (rows, Outputs(logits=rows.logits, labels=rows.labels)):
        for values in (MaxSoftmax()(each), each.errors, np.arange(2000)):
            means = [values[folds(each) == number].mean() for number in range(5)]
            assert np.ptp(means) < 5 * values.std() / np.sqrt(400)


@pytest.mark.parametrize("wrong", [0, 2, 58, 60])
def test_too_few_errors_give_the_order_of_the_base(wrong):
    z = np.random.default_rng(0).normal(size=(60, 3))
    labels = np.where(np.arange(60) < wrong, (z.argmax(axis=1) + 1) % 3, z.argmax(axis=1))
    fitted = Learned((MaxSoftmax(),), (Energy(),)).fit(Outputs(logits=z, labels=labels))
    fresh = _mixed(200, 0)
    np.testing.assert_array_equal(np.argsort(fitted(fresh)), np.argsort(MaxSoftmax()(fresh)))


def test_rows_that_show_nothing_are_an_error():
    outputs = Outputs(logits=np.eye(3)[np.arange(60) % 3] * 9, labels=np.arange(60) % 3)
    with pytest.raises(CannotFitError, match="determines none of the scores to learn from"):
        Learned((MaxSoftmax(),)).fit(outputs)


def test_it_says_which_scores_carry_the_weight():
    fitted = Learned((MaxSoftmax(),), (Energy(),)).fit(_mixed(2000, 0))
    assert fitted.note(np.zeros(1)).startswith("learned weighs ")
    assert "energy +" in fitted.note(np.zeros(1))


def test_a_selector_file_can_hold_it(digits):
    fitted = SCORES["learned"].fit(digits.select(np.arange(0, len(digits), 4)))
    again = from_state(*to_state(fitted))
    np.testing.assert_array_equal(again(digits), fitted(digits))


def test_few_clean_rows_or_none_are_too_few_to_fit_on_and_said_to_be():
    rng = np.random.default_rng(0)
    sample = Outputs(logits=rng.normal(size=(30, 3)), labels=rng.integers(0, 3, 30), shift=["covariate"] * 30)
    with pytest.raises(CannotFitError, match="determines none of the scores"):
        SCORES["learned"].fit(sample)
    with pytest.raises(CannotFitError):
        SCORES["learned"].fit(sample[[0]])
