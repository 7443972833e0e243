import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.answers import label_logits
from abstain.errors import InvalidInputError

NAMES = ("yes", "no", "maybe")


def test_they_are_the_softmax_of_the_labels():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(6, 3))
    shifted = z - np.logaddexp.reduce(z, axis=1, keepdims=True) - rng.random((6, 1))  # some mass on other tokens
    rows = [dict(zip(NAMES, row, strict=True)) | {"Well": -3.0} for row in shifted.tolist()]
    expected = z - np.logaddexp.reduce(z, axis=1, keepdims=True)
    np.testing.assert_allclose(label_logits(rows, class_names=NAMES), expected, atol=1e-12)


def test_tokens_of_one_label_add_up():
    split = label_logits([{"Yes": np.log(0.2), " yes": np.log(0.1), "no": np.log(0.1)}], class_names=("yes", "no"))
    np.testing.assert_allclose(np.exp(split), [[0.75, 0.25]])


def test_a_label_outside_the_list_is_masked():
    rows = [[{"token": "yes", "logprob": -0.1}, {"token": "no", "logprob": -3.0}], [{"token": "No", "logprob": -0.1}]]
    logits = label_logits(rows, class_names=NAMES)
    assert np.isneginf(logits).tolist() == [[False, False, True], [True, False, True]]
    assert Outputs(logits=logits).predictions.tolist() == [0, 1]


def test_a_row_without_any_label_is_never_accepted():
    logits = label_logits([{"Well": -0.1}, {"yes": -0.5}], class_names=NAMES)
    with pytest.raises(InvalidInputError, match="`logits` must be finite"):
        Outputs(logits=logits)
    assert Outputs(logits=logits, nonfinite="reject").usable.tolist() == [False, True]


def test_scores_that_use_the_size_of_logits_are_left_out():
    rng = np.random.default_rng(1)
    rows = [dict(zip(NAMES, row, strict=True)) for row in np.log(rng.dirichlet([1, 1, 1], size=80)).tolist()]
    outputs = Outputs(logits=label_logits(rows, class_names=NAMES), labels=rng.integers(3, size=80))
    result = evaluate(outputs, scores=["max_softmax", "doctor", "neg_entropy", "confidence_margin"])
    assert len(result.rows) > 0
    left_out = evaluate(outputs).left_out
    assert {"max_logit", "energy"} <= set(left_out)
    assert not {"max_softmax", "doctor", "neg_entropy", "confidence_margin"} & set(left_out)


@pytest.mark.parametrize("value", [0.1, float("nan"), "x"])
def test_a_wrong_logprob_is_refused_with_its_row(value):
    with pytest.raises(InvalidInputError, match=r"`logprobs` must be numbers of at most 0, got .* in row 1"):
        label_logits([{"yes": -1.0}, {"no": value}], class_names=NAMES)


def test_labels_must_differ_after_normalizing():
    with pytest.raises(InvalidInputError, match="`class_names` must be at least 2 labels, distinct"):
        label_logits([], class_names=("yes", "Yes"))
    with pytest.raises(InvalidInputError, match="or lists of objects with token and logprob, got 3 in row 0"):
        label_logits([3], class_names=NAMES)
