import numpy as np
import pytest

from abstain_reproduction.real_models.question_answers import numbers, recall, support


def test_a_reference_counts_word_for_word_and_in_part():
    assert recall("It was St. Anselm, in 1078.", ["st. anselm"]) == (True, 1.0)
    assert recall("It was Anselm.", ["st. anselm", "saint anselm of canterbury"]) == (False, 0.5)
    assert recall("Anselmo", ["anselm"]) == (False, 0.0)


def test_rare_words_weigh_more_in_the_support():
    rarity = {"the": 0.0, "anselm": 3.0, "monk": 1.0}
    assert support({"the", "anselm", "monk"}, {"the", "anselm"}, rarity) == pytest.approx(0.75)
    assert support(set(), {"the"}, rarity) == 1.0


def test_words_of_the_question_support_nothing():
    answers = {"GPT4_response": "Paris is it", "llama13b_response": "Paris", "llama7b_response": "Is it Rome?"}
    row = {"question": "Is it Lyon?", "reference_answer": ["paris"], "source": "selfaware-squadqa_train", **answers}
    arrays = numbers([row])
    assert arrays["source"] == ["squadqa"]
    assert arrays["support_gpt4_llama13b"] == 1
    assert arrays["support_gpt4_llama7b"] == 0
    assert np.array_equal([arrays["correct_gpt4"][0], arrays["correct_llama7b"][0]], [True, False])
