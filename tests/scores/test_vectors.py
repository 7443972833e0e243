"""Values computed with mpmath, independently of this code."""

import numpy as np
import pytest

from abstain.scores import (
    SCORES,
    confidence_margin,
    doctor,
    energy,
    geometric_margin,
    max_logit,
    max_softmax,
    neg_entropy,
)

W = np.array([[1.0, 2, 2], [0, 3, 4], [2, 0, 0]])
B = np.array([0.5, -1, 0.25])
Z = np.array([[4.5, 4.0, 2.25]])

VECTORS = [
    ([2, 1, 0.1, -1], 0.566981372039677, -0.110735033413689, 0.0401214169296075),
    ([30, 5, 4, 0], 24.6818245707525, 23.9886773901888, 21.4125548550805),
    ([120, 10, 9, -3], 109.68673666005, 108.99358947949, 104.974786304463),
    ([1.5, 1.5, 0], -0.201413277982752, -0.344392397294558, 0.051853944294023),
    ([0, 0, 0, 0], -1.09861228866811, -1.09861228866811, -0.326634259978281),
    ([900, 0, -1], 899.686738312482, 898.993591131922, 892.88293460727),
    ([3, 1], 2, 1.32500274735786, 1.00694367198489),
]


@pytest.mark.parametrize(("logits", "log_odds", "log_doctor", "log_entropy"), VECTORS)
def test_softmax_confidences(logits, log_odds, log_doctor, log_entropy):
    z = np.array([logits], dtype=float)
    assert max_softmax(z)[0] == pytest.approx(log_odds, rel=1e-13)
    assert doctor(z)[0] == pytest.approx(log_doctor, rel=1e-13)
    assert neg_entropy(z)[0] == pytest.approx(log_entropy, rel=1e-13)


def test_literal_values_are_those_of_the_paper():
    z = np.array([[2, 1, 0.1, -1]])
    assert SCORES["max_softmax"].literal(max_softmax(z))[0] == pytest.approx(0.638066351147938, rel=1e-13)
    assert SCORES["doctor"].literal(doctor(z))[0] == pytest.approx(-1.1170988737616, rel=1e-13)
    assert SCORES["neg_entropy"].literal(neg_entropy(z))[0] == pytest.approx(-0.960672790130348, rel=1e-13)


def test_energy_max_logit_and_margin():
    z = np.array([[2, 1, 0.1, -1]])
    assert energy(z)[0] == pytest.approx(2.44931300238035, rel=1e-13)
    assert max_logit(z)[0] == 2
    assert confidence_margin(z)[0] == 1


def test_geometric_margin():
    np.testing.assert_allclose(np.array([[1, 1, 0.5]]) @ W.T + B, Z)
    assert geometric_margin(Z, W)[0] == pytest.approx(0.375, rel=1e-14)


def test_geometric_margin_as_the_authors_code_has_it():
    margin = geometric_margin(Z, W, bias=B, form="top_two")
    assert margin[0] == pytest.approx(0.36327827444533956, rel=1e-14)


def test_geometric_margin_is_negative_where_the_argmaxes_differ():
    weight = np.array([[10.0, 0.0], [0.0, 1.0]])
    assert geometric_margin(np.array([[2.0, 1.0]]), weight)[0] == pytest.approx(-0.8)
    code = geometric_margin(np.array([[2.0, 1.0]]), weight, bias=np.zeros(2), form="top_two")
    assert code[0] == pytest.approx(0.8)


def test_entropy_at_a_huge_scale_follows_the_corrected_lemma():
    """−(1 + λΔ)e^{−λΔ}, and not −e^{−λΔ}: their ratio at λΔ = 100 is 101."""
    literal = SCORES["neg_entropy"].literal(neg_entropy(np.array([[100.0, 0.0]])))
    assert literal[0] / -np.exp(-100.0) == pytest.approx(101.0, rel=1e-9)
