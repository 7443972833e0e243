import numpy as np
import pytest

import abstain
from abstain.experiments.training.two_networks import errors_of_testing, influences
from abstain.metrics import aurc
from abstain.outputs import Outputs


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
    one, other = evaluated(2), evaluated(3)
    found = errors_of_testing(influences(one), influences(other))

    def difference(rows):
        areas = [aurc(each.confidence["max_softmax"][rows], each.outputs.errors[rows]) for each in (one, other)]
        return areas[0] - areas[1]

    left = np.array([difference(one.outputs.ids != image) for image in range(400)])
    error = np.sqrt(399 / 400 * np.square(left - left.mean()).sum())
    assert found["max_softmax in+cov"] == pytest.approx(error, rel=0.03)
    assert found.keys() == {f"{score} {mix}" for score in one.scores for mix in ("in", "in+cov")}


def test_a_network_does_not_differ_from_itself():
    found = influences(evaluated(2))
    assert set(errors_of_testing(found, found).values()) == {0.0}
