"""No order is lost to rounding."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from abstain.scores import SCORES, confidence_margin, doctor, geometric_margin, logit_scores, max_softmax, neg_entropy


def saturated_logits(n=400, k=6):
    """float32 rows with margins up to 500, many so certain that their softmax is 1 exactly."""
    rng = np.random.default_rng(3)
    z = rng.normal(size=(n, k))
    z[np.arange(n), rng.integers(k, size=n)] += rng.uniform(5, 500, size=n)
    return z.astype(np.float32)


def exact_values(row):
    """The literal SR_max, SR_doctor and SR_ent with 600 digits."""
    z = [mpmath.mpf(float(v)) for v in row]
    top = max(z)
    powers = [mpmath.exp(v - top) for v in z]
    total = mpmath.fsum(powers)
    p = [v / total for v in powers]
    return max(p), 1 - 1 / mpmath.fsum(v * v for v in p), mpmath.fsum(v * mpmath.log(v) for v in p)


def test_ranking_of_saturated_logits_equals_that_of_mpmath():
    z = saturated_logits()
    with mpmath.workdps(600):
        exact = [exact_values(row) for row in z]
    for column, score in enumerate((max_softmax, doctor, neg_entropy)):
        confidence = score(z)
        order = sorted(range(len(z)), key=lambda i, c=column: exact[i][c])
        assert (np.diff(confidence[order]) > 0).all(), "a false tie or an inversion"


def test_the_naive_form_fails_on_the_same_rows():
    z = saturated_logits()
    naive = np.exp(z - z.max(1, keepdims=True))
    naive = (naive / naive.sum(1, keepdims=True)).max(1)
    assert len(np.unique(naive)) < len(z) / 2


@given(arrays(np.float32, (20, 2), elements=st.floats(-50, 50, width=32)))
def test_with_two_classes_softmax_scores_rank_as_the_margin(z):
    order = np.argsort(confidence_margin(z))
    for score in (max_softmax, doctor, neg_entropy):
        assert (np.diff(score(z)[order]) >= -1e-12).all()


@pytest.mark.parametrize("scale", [1e-3, 0.1, 7.0, 1e3])
def test_margins_rank_the_same_at_any_scale_of_the_logits(scale):
    rng = np.random.default_rng(0)
    z, weight = rng.normal(size=(500, 10)), rng.normal(size=(10, 4))
    for margin in (confidence_margin, lambda z: geometric_margin(z, weight)):
        np.testing.assert_array_equal(np.argsort(margin(z)), np.argsort(margin(scale * z)))


def test_softmax_does_not_rank_the_same_at_any_scale():
    z = np.random.default_rng(0).normal(size=(500, 10))
    assert (np.argsort(max_softmax(z)) != np.argsort(max_softmax(4 * z))).any()


@pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
def test_literal_is_increasing(score):
    grid = np.linspace(-1, 30, 100)
    assert (np.diff(score.literal(grid)) > 0).all()


def test_one_class_left_standing_is_certain():
    scores = logit_scores(np.array([[1.0, -np.inf, -np.inf], [1.0, 0.0, -np.inf]]))
    assert scores["max_softmax"].tolist() == [np.inf, 1.0]
    assert scores["doctor"][0] == scores["neg_entropy"][0] == scores["confidence_margin"][0] == np.inf
    assert scores["energy"].tolist() == pytest.approx([1.0, np.log(np.e + 1)])
