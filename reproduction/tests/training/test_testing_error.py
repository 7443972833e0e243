import numpy as np
import pytest

import abstain
from abstain.metrics import aurc
from abstain.outputs import Outputs
from abstain_reproduction.training.testing_error import errors_of_testing, influences


def evaluated(seed):
    """A network of its own mistakes on 400 images and corrupted copies of half of them, that all networks share."""
    labels = np.random.default_rng(0).integers(3, size=400)
    hard = np.random.default_rng(1).normal(size=(400, 3))
    rng = np.random.default_rng(seed)
    ids = np.concatenate([np.arange(400), np.arange(200)])
    logits = np.eye(3)[labels[ids]] + hard[ids] + 0.7 * rng.normal(size=(600, 3))
    shift = np.repeat(["none", "covariate"], [400, 200])
    outputs = Outputs(logits=logits, labels=labels[ids], shift=shift, ids=ids)
    return abstain.evaluate(outputs, scores=["confidence_margin", "max_softmax"], alphas=(1.0,))


def test_the_error_is_that_of_leaving_images_out():
    first, second = evaluated(2), evaluated(3)
    errors = errors_of_testing(influences(first), influences(second))

    def difference(rows):
        areas = [aurc(each.confidence["max_softmax"][rows], each.outputs.errors[rows]) for each in (first, second)]
        return areas[0] - areas[1]

    left = np.array([difference(first.outputs.ids != image) for image in range(400)])
    error = np.sqrt(399 / 400 * np.square(left - left.mean()).sum())
    assert errors["max_softmax in+cov"] == pytest.approx(error, rel=0.03)
    assert errors.keys() == {f"{score} {mix}" for score in first.scores for mix in ("in", "in+cov")}


def test_a_network_does_not_differ_from_itself():
    influence = influences(evaluated(2))
    assert set(errors_of_testing(influence, influence).values()) == {0.0}
