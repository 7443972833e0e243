from math import inf, nan

import numpy as np
import pytest

from abstain.answers import SIGNALS, signals
from abstain.errors import InvalidInputError


def test_signals_are_those_whose_columns_are_given():
    assert list(signals(logprobs=[[-1.0]])) == ["mean_logprob", "min_logprob", "sum_logprob", "neg_perplexity"]
    assert list(signals(answers=["a"], samples=[["a"]])) == ["agreement", "neg_semantic_entropy"]
    everything = signals(answers=["a"], samples=[["a"]], logprobs=[[-1.0]], top_logprobs=[[[-1.0, -2.0]]])
    assert list(everything) == list(SIGNALS)


def test_what_is_missing_is_nan_in_its_row_alone():
    confidences = signals(
        answers=["a", None, "c"],
        samples=[None, ["a", "a"], ["c"]],
        logprobs=[[-1.0], [], None],
        top_logprobs=[None] * 3,
    )
    np.testing.assert_array_equal(confidences["mean_logprob"], [-1, nan, nan])
    np.testing.assert_array_equal(confidences["agreement"], [nan, nan, 1])
    np.testing.assert_array_equal(confidences["neg_semantic_entropy"], [nan, 0, 0])
    np.testing.assert_array_equal(confidences["first_token_margin"], [nan, nan, nan])


def test_without_answers_the_first_sample_is_the_answer():
    confidences = signals(samples=[["a", "a", "b"], ["a"]])
    np.testing.assert_array_equal(confidences["agreement"], [0.5, nan])
    np.testing.assert_array_equal(np.isnan(confidences["neg_semantic_entropy"]), [False, True])


def test_the_answer_is_one_of_the_answers_of_the_entropy():
    assert signals(answers=["a"], samples=[["b"]])["neg_semantic_entropy"] == pytest.approx(-np.log(2))


@pytest.mark.parametrize(
    "tops",
    [
        [[-0.5, -2.0], [-9.0]],
        [{"a": -0.5, "b": -2.0}],
        [{"7": {"logprob": -0.5, "rank": 1}, "9": {"logprob": -2.0}}],
        [[{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": -2.0}]],
    ],
)
def test_alternatives_may_be_lists_or_by_token(tops):
    assert signals(logprobs=[[-0.5, -1.0]], top_logprobs=[tops])["first_token_margin"] == 1.5


def test_tokens_may_be_objects_as_in_interfaces():
    token = {"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "a", "logprob": -0.5}, {"logprob": -2.0}]}
    confidences = signals(logprobs=[{"content": [token]}, [token, {"token": "b", "logprob": -1.5}], None])
    np.testing.assert_array_equal(confidences["sum_logprob"], [-0.5, -2, nan])
    np.testing.assert_array_equal(confidences["first_token_margin"], [1.5, 1.5, nan])


def test_samples_may_be_any_json_value():
    confidences = signals(answers=[{"a": 1, "b": 2}, 3], samples=[[{"b": 2, "a": 1}], [3.0, "3", None, "4"]])
    np.testing.assert_array_equal(confidences["agreement"], [1, 2 / 3])


@pytest.mark.parametrize("wrong", [0.1, nan, inf, None, "x", True, {}])
def test_a_wrong_logprob_is_refused_with_its_row(wrong):
    with pytest.raises(InvalidInputError, match=r"`logprobs` must be numbers of at most 0, got .* in row 1\. Give nat"):
        signals(logprobs=[[-1.0], [-1.0, wrong]])


def test_zero_and_minus_infinity_are_log_probabilities():
    assert signals(logprobs=[[0.0], [-inf]])["sum_logprob"].tolist() == [0.0, -inf]


@pytest.mark.parametrize("cell", [5, "Paris", "[1", {"a": 1}["a"]])
def test_what_is_no_list_is_refused(cell):
    with pytest.raises(InvalidInputError, match=r"`samples` must be a list, got .* in row 0\. Write a list"):
        signals(samples=[cell])


def test_columns_must_have_one_length():
    with pytest.raises(InvalidInputError, match="must have one length"):
        signals(answers=["a"], samples=[["a"], ["b"]])
    with pytest.raises(InvalidInputError, match="`logprobs` or `samples` must be given, got neither"):
        signals(answers=["a"])


def test_an_error_of_a_users_function_is_named():
    with pytest.raises(InvalidInputError, match=r"`normalize` and `equivalent` must take the answers, got ZeroDiv"):
        signals(answers=["a"], samples=[["b"]], equivalent=lambda _, __: 1 / 0)
