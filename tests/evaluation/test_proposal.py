"""What `evaluate` proposes to ask for can be had."""

import numpy as np
import pytest

from abstain import Outputs, calibrate, evaluate
from abstain.evaluation.proposal import proposed_risk


def drawn(n, rate, *, seed=0, copies=1):
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    wrong = rng.random(n) < 2 * rate * (1 - confidence)
    ids = np.repeat(np.arange(n), copies)
    return Outputs(confidences={"a": np.repeat(confidence, copies)}, errors=np.repeat(wrong, copies), ids=ids)


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1, 0.4])
@pytest.mark.parametrize("n", [60, 300, 3000])
def test_the_risk_proposed_is_in_reach(n, rate, copies):
    outputs = drawn(n, rate, copies=copies)
    risk = proposed_risk(evaluate(outputs), "a")
    assert calibrate(outputs, score="a", risk=risk).threshold.guarantee.limit == risk


def test_half_of_the_errors_is_proposed_where_rows_are_many():
    assert proposed_risk(evaluate(drawn(20_000, 0.19)), "a") == 0.1


def test_nothing_is_proposed_where_nothing_is_in_reach():
    assert (
        proposed_risk(evaluate(Outputs(confidences={"a": np.arange(6.0)}, errors=np.arange(6) % 2 == 0)), "a") is None
    )
