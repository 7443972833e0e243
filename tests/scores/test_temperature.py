import numpy as np
import pytest
from scipy.special import softmax

from abstain import Outputs
from abstain.scores import CannotFitError, TemperatureScaled
from abstain.scores.expected_cost import ExpectedCost
from abstain.scores.logit_scores import MaxSoftmax
from abstain.scores.temperature import best_temperature


def sample(scale=1.0):
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=400)
    return Outputs(logits=scale * (rng.normal(size=(400, 5)) + 2 * np.eye(5)[labels]), labels=labels)


@pytest.mark.parametrize("scale", [0.03, 0.5, 7.0, 40.0])
def test_the_temperature_grows_with_the_logits(scale):
    assert best_temperature(sample(scale)) == pytest.approx(scale * best_temperature(sample()), rel=1e-9)


@pytest.mark.parametrize("scale", [0.001, 1000.0])
def test_a_temperature_beyond_the_range_is_refused(scale):
    with pytest.raises(CannotFitError, match=r"no temperature between 0.01 and 100 fits"):
        TemperatureScaled(MaxSoftmax()).fit(sample(scale))


def test_a_label_that_is_masked_leaves_no_temperature():
    whole = sample()
    logits = whole.logits.copy()
    logits[0, whole.labels[0]] = -np.inf
    with pytest.raises(CannotFitError, match="no temperature between"):
        TemperatureScaled(MaxSoftmax()).fit(Outputs(logits=logits, labels=whole.labels))


def test_costs_are_weighed_with_the_probabilities_as_they_are_where_no_prediction_is_wrong():
    logits = np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 0.5]])
    sample = Outputs(logits=logits, labels=[0, 1, 0])
    fitted = ExpectedCost(0.5).fit(sample)
    assert fitted.temperature == 1.0
    assert fitted(sample) == pytest.approx(softmax(logits, axis=1).max(axis=1) - 0.5)
