import numpy as np

from abstain import Outputs, scores
from abstain_reproduction.comparison.control import controls

LOGITS = np.array([[3.0, 0, 0], [0, 5, 0], [0, 1, 0], [0, 0, 0.1]])


def test_predictions_of_a_class_that_the_sample_lacks_rank_last_in_their_own_order():
    outputs = Outputs(logits=LOGITS, labels=[0, 1, 1, 2])
    sample = Outputs(logits=LOGITS[[0, 3]], labels=[0, 2])
    for base in ("max_softmax", "confidence_margin"):
        confidence = controls(sample)[f"{base}|seen"](outputs)
        assert np.argsort(-confidence).tolist() == [0, 3, 1, 2]


def test_with_every_class_in_the_sample_the_control_is_the_plain_score():
    outputs = Outputs(logits=np.random.default_rng(0).normal(size=(200, 4)), labels=np.arange(200) % 4)
    for name, control in controls(outputs).items():
        plain = scores.SCORES[name.removesuffix("|seen")](outputs)
        assert (np.argsort(control(outputs)) == np.argsort(plain)).all()


def test_extreme_confidences_keep_their_order():
    logits = np.array([[1000.0, 0], [900, 0], [0, 900], [0, 1000]])
    outputs = Outputs(logits=logits, labels=[0, 0, 1, 1])
    confidence = controls(outputs.select(np.array([0])))["confidence_margin|seen"](outputs)
    assert np.argsort(-confidence).tolist() == [0, 1, 3, 2]
