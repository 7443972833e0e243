import hashlib
from importlib.resources import files

import numpy as np
import pytest

from abstain.datasets import question_answers

DIGEST = "8f2a29dde0f090f6063715dfd1bdb0596eed8f69d157d1b22862c802af826a28"


def test_larger_models_are_right_more_often():
    wrong = [question_answers(model).errors.mean() for model in ("gpt4", "llama13b", "llama7b")]
    assert wrong == sorted(wrong)
    assert all(np.array_equal(question_answers(model).ids, question_answers().ids) for model in ("llama13b", "llama7b"))


def test_every_signal_ranks_right_answers_before_wrong_ones():
    outputs = question_answers()
    for name in outputs.confidence_names:
        confidence = outputs.confidence(name)
        right, wrong = confidence[~outputs.errors], confidence[outputs.errors]
        assert (right[:, None] > wrong).mean() > 0.6


def test_an_answer_that_matches_a_reference_has_all_its_words():
    assert (question_answers(graded=True).losses[~question_answers().errors] == 0).all()


def test_an_unknown_model_is_named():
    with pytest.raises(ValueError, match=r"`model` must be .*'gpt5'"):
        question_answers("gpt5")


def test_the_shipped_file_is_the_one_that_the_documented_numbers_are_of():
    file = files("abstain.datasets") / "question_answers.npz"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == DIGEST
    assert len(file.read_bytes()) < 100_000
