from functools import partial

import numpy as np
import pytest
from scipy.special import ndtri

from abstain_reproduction.claims import CLAIMS
from abstain_reproduction.quantifier import Quantifier, jointly


@pytest.mark.parametrize(
    ("held", "refuted", "expected"),
    [
        (12, 0, {"all": "held", "nearly all": "held", "most": "held", "some": "held"}),
        (11, 1, {"all": "not held", "nearly all": "held", "most": "held", "some": "held"}),
        (7, 5, {"all": "not held", "nearly all": "not held", "most": "held", "some": "held"}),
        (6, 5, {"all": "not held", "nearly all": "not held", "most": "undecided", "some": "held"}),
        (0, 6, {"all": "not held", "nearly all": "not held", "most": "not held", "some": "undecided"}),
        (0, 12, dict.fromkeys(("all", "nearly all", "most", "some"), "not held")),
        (0, 0, dict.fromkeys(("all", "nearly all", "most", "some"), "undecided")),
    ],
)
def test_a_single_comparison_refutes_only_a_universal_claim(held, refuted, expected):
    outcomes = ["held"] * held + ["not held"] * refuted + ["undecided"] * (12 - held - refuted)
    assert {quantifier.value: quantifier.outcome(outcomes) for quantifier in Quantifier} == expected


def judge(value, outside):
    half = ndtri(1 - outside / 2)
    return "held" if value + half < 0 else "not held" if value - half > 0 else "undecided"


def test_decisions_are_those_of_holm():
    """Two-sided p-values below 0.05/n, 0.05/(n − 1) and so on, in each direction."""
    values = [-3.0, -2.55, -2.42, -1.9, 2.4]
    assert [judge(value, 0.05 / 5) for value in values].count("held") == 1
    assert jointly([partial(judge, value) for value in values]) == ["held", "held", "held", "undecided", "undecided"]


def test_all_decisions_are_right_together_nineteen_times_in_twenty():
    """True values of zero, and far from zero on either side; one test after another would err in most of the trials."""
    rng = np.random.default_rng(0)
    truth = np.array([0.0] * 20 + [-6.0] * 10 + [6.0] * 10)
    wrong = alone = 0
    for _ in range(400):
        values = truth + rng.normal(size=len(truth))
        outcomes = jointly([partial(judge, value) for value in values])
        wrong += any(outcome != "undecided" for outcome in outcomes[:20])
        alone += any(judge(value, 0.05) != "undecided" for value in values[:20])
        assert "not held" not in outcomes[20:30]
    assert wrong / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert alone / 400 > 0.5


def test_every_testable_claim_names_our_choices():
    assert [claim.key for claim in CLAIMS.values() if not claim.choices and not claim.untestable] == []
