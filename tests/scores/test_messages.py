import numpy as np
import pytest

from abstain.outputs import Outputs
from abstain.scores import (
    binary_logits,
    energy,
    gen,
    geometric_margin,
    geometric_rule,
    logit_scores,
    max_logit_pnorm,
    max_softmax,
    pairwise_margin,
)

Z = np.array([[1.0, 0.0], [0.0, 2.0]])


def test_nan_names_the_first_bad_row():
    with pytest.raises(ValueError, match=r"`logits` must hold finite numbers .* in 1 of 3 rows, first in row 2"):
        max_softmax(np.vstack([Z, [np.nan, 0.0]]))


@pytest.mark.parametrize("z", [np.zeros(3), np.zeros((2, 2, 2))])
def test_wrong_number_of_dimensions(z):
    with pytest.raises(ValueError, match=r"`logits` must have shape \(n, K\)"):
        max_softmax(z)


def test_one_class_points_to_binary_logits():
    with pytest.raises(ValueError, match=r"binary_logits"):
        max_softmax(np.zeros((3, 1)))


def test_integers_are_not_logits():
    with pytest.raises(TypeError, match=r"`logits` must be floating"):
        max_softmax(np.array([[1, 2]]))


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan])
def test_temperature_must_be_positive(temperature):
    with pytest.raises(ValueError, match=r"`temperature` must be above 0"):
        energy(Z, temperature=temperature)


@pytest.mark.parametrize("rows", [1, 3])
def test_a_weight_of_another_number_of_classes_is_refused(rows):
    for score in (geometric_margin, pairwise_margin, logit_scores):
        with pytest.raises(ValueError, match=r"`weight` must have a row for each of the 2 classes|rows that differ"):
            score(Z, np.arange(4.0 * rows).reshape(rows, 4) + 1)


@pytest.mark.parametrize("weight", [np.ones(2), np.full((2, 3), np.nan)])
def test_a_weight_must_be_a_finite_matrix(weight):
    for score in (geometric_margin, pairwise_margin):
        with pytest.raises(ValueError, match="`weight` must be finite of shape"):
            score(Z, weight)


@pytest.mark.parametrize("bad", [[np.nan, 1.0, 2.0], [np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf]])
def test_no_function_scores_a_row_that_is_not_usable(bad):
    z = np.array([bad, [1.0, 0.0, 2.0]])
    for score in (max_softmax, gen, lambda z: max_logit_pnorm(z, p=2), lambda z: max_logit_pnorm(z, p=0)):
        with pytest.raises(ValueError, match="in 1 of 2 rows, first in row 0"):
            score(z)
        torch = pytest.importorskip("torch")
        assert torch.isnan(score(torch.as_tensor(z))).tolist() == [True, False]


def test_lists_are_logits_too():
    rows = [[1.0, 0.0], [0.0, 2.0]]
    for score in (max_softmax, gen, lambda z: max_logit_pnorm(z, p=2), lambda z: pairwise_margin(z, np.eye(2))):
        assert score(rows).shape == (2,)
    assert binary_logits([0.5]).shape == (1, 2)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        gen(np.empty((0, 3)))


def test_zero_weight_row_is_named():
    weight = np.array([[1.0, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"norm zero, got one at class 1.*Use another score"):
        geometric_margin(Z, weight)


def test_zero_weight_row_with_a_bias_has_the_sign_of_the_bias():
    weight, bias = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([0.0, -2.0])
    margin = geometric_margin(np.array([[3.0, -2.0]]), weight, bias=bias, form="top_two")
    assert margin[0] == pytest.approx(3 - -1)


def test_a_bias_of_another_number_of_classes():
    with pytest.raises(ValueError, match=r"`bias` must have one value for each of 2 classes, got shape \(3,\)"):
        geometric_margin(Z, np.eye(2), bias=np.ones(3))


def test_unknown_form():
    with pytest.raises(ValueError, match=r"`form` must be 'signed' or 'top_two', got 'x'"):
        geometric_margin(Z, np.eye(2), form="x")


def test_the_geometric_rule_needs_a_head_and_labels_rather_than_errors():
    with pytest.raises(ValueError, match=r"`outputs` must have logits and a head .*, got no head"):
        geometric_rule(Outputs(logits=Z))
    with pytest.raises(ValueError, match=r"`outputs` must have labels, got errors"):
        geometric_rule(Outputs(logits=Z, weight=np.eye(2), errors=np.zeros(len(Z), dtype=bool)))


def test_binary_logits_want_one_column():
    with pytest.raises(ValueError, match=r"`logit` must have shape"):
        binary_logits(np.zeros((3, 2)))


@pytest.mark.parametrize("temperature", [0.0, -1.0, np.nan, np.inf, 1e307])
def test_a_temperature_that_says_nothing_is_refused(temperature):
    with pytest.raises(ValueError, match=r"`temperature` must be above 0 and at most 1e\+300, got"):
        max_softmax(Z, temperature=temperature)
