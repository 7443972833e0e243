"""Targets and the answers that they are about."""

import numpy as np

from abstain import calibrate
from abstain.datasets import digits
from abstain.scores import ExpectedCost


def test_a_target_risk_is_about_the_answers_of_a_score_that_changes_them():
    """On the errors of the classifier itself 18% of what is accepted would be wrong."""
    outputs = digits()
    costs = 1 - np.eye(outputs.n_classes)
    costs[0, 1:] = 0.2  # so that the first class is a cheap answer
    first, second = outputs.split(0.5, seed=0)
    selector = calibrate(first, score=ExpectedCost(rejection=0.3, costs=costs), risk=0.15, delta=0.05)
    accepted = selector.accepts(second)
    assert (selector.predictions(second)[accepted] != second.predictions[accepted]).any()
    assert 0 < selector.errors(second)[accepted].mean() < 0.15
