"""Scores that rank every sample alike are told to, by their rankings and not by their names."""

import numpy as np

from abstain import Outputs, evaluate
from abstain.evaluation import verdict

PLAIN = ["max_softmax", "doctor", "neg_entropy", "confidence_margin", "max_logit"]


def drawn(k, n=400):
    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    return Outputs(logits=rng.normal(size=(n, k)) + 2 * np.eye(k)[labels], labels=labels)


def test_functions_of_the_margin_of_two_classes_rank_alike_and_are_told_in_one_sentence():
    evaluation = evaluate(drawn(2), scores=PLAIN)
    assert evaluation.alike == (tuple(PLAIN[:4]),)
    message = verdict(evaluation)
    assert message.baseline == "max_logit"
    assert " 4 scores rank identically: max_softmax, doctor, neg_entr" in message.words
    assert "Statistically tied" not in message.words
    assert {row["score"] for row in evaluation.rows} == set(PLAIN)
    assert evaluation.to_dict()["alike"] == [PLAIN[:4]]


def test_of_three_classes_they_do_not():
    evaluation = evaluate(drawn(3), scores=PLAIN)
    assert evaluation.alike == ()
    assert "rank identically" not in verdict(evaluation).words


def test_ties_are_part_of_a_ranking():
    c = np.array([0.4, 0.3, 0.2, 0.1])
    given = {"a": c, "b": np.exp(c), "c": np.round(c + 0.05, 0), "d": [0.4, 0.2, 0.3, 0.1]}
    assert evaluate(Outputs(confidences=given, errors=[1, 0, 1, 0])).alike == (("a", "b"),)


def test_where_all_scores_rank_alike_there_is_nothing_to_compare_with():
    judgement = verdict(evaluate(drawn(2), scores=PLAIN[:2]))
    assert judgement.baseline is None
    assert judgement.words.startswith("max_softmax has AURC ")
    assert judgement.words.endswith("2 scores rank identically: max_softmax, doctor.")


def test_an_evaluation_and_its_verdict_print_as_words():
    rng = np.random.default_rng(0)
    confidence = rng.random(300)
    evaluation = evaluate(
        Outputs(confidences={"a": confidence, "b": rng.random(300)}, errors=rng.random(300) > confidence)
    )
    assert evaluation.verdict.score == "a"
    assert str(evaluation) == str(evaluation.verdict) == evaluation.verdict.words
    assert str(evaluation).startswith("Use a: ")
