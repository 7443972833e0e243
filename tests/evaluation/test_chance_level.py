"""More errors than by guessing are told first, wherever a verdict is."""

import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.evaluation import evaluate_sketch, sketch_outputs, summarize
from abstain.evaluation.chance_level import suspicion, suspicion_of
from abstain.evaluation.page import evaluation_page, page_context
from abstain.report.page import text

WORDS = "of the rows are wrong, more than by guessing: check that the classes are in the order of the classifier,"


def drawn(n=400, classes=4, **options):
    rng = np.random.default_rng(0)
    labels = rng.integers(classes, size=n)
    return {"logits": rng.normal(size=(n, classes)) + 4 * np.eye(classes)[labels], "labels": labels} | options


def test_classes_in_another_order_are_told_in_verdict_document_and_page():
    rows = drawn()
    evaluation = evaluate(Outputs(logits=rows["logits"][:, ::-1], labels=rows["labels"]), scores=["max_softmax"])
    words = summarize(evaluation).verdict.words
    suspicion = evaluation.to_dict()["verdict"]["suspicion"]
    assert WORDS in suspicion
    assert words.startswith(f"{suspicion} max_softmax has")
    page = evaluation_page(page_context(evaluation))
    assert page.index(text(evaluation.suspicion)) < page.index('class="decision"')


def test_counts_tell_it_too():
    rows = drawn()
    for labels, is_told in ((rows["labels"], False), (3 - rows["labels"], True)):
        outputs = Outputs(logits=rows["logits"], labels=labels)
        evaluation = evaluate_sketch(sketch_outputs(outputs))
        assert (WORDS in evaluation.to_dict()["verdict"]["words"]) == is_told


def test_right_called_wrong_is_told_and_right_called_right_is_not():
    rng = np.random.default_rng(0)
    wrong = rng.random(300) < 0.1
    suspicion = suspicion_of(Outputs(confidences={"a": rng.random(300)}, errors=~wrong))
    assert suspicion.endswith("of the answers are wrong: check that the column `correct` does not hold errors.")
    assert suspicion_of(Outputs(confidences={"a": rng.random(300)}, errors=wrong)) == ""


def test_unknown_classes_and_shifted_rows_do_not_count():
    rows = drawn()
    known = np.arange(400) < 40
    labels = np.where(known, rows["labels"], -1)
    assert suspicion_of(Outputs(logits=rows["logits"], labels=labels)) == ""
    kinds = np.where(known, "covariate", "label")
    assert suspicion_of(Outputs(logits=rows["logits"], labels=labels, shift=kinds)) == ""
    moved = np.where(known, rows["labels"], (rows["labels"] + 1) % 4)
    shift = np.where(known, "none", "covariate")
    assert suspicion_of(Outputs(logits=rows["logits"], labels=moved, shift=shift)) == ""
    assert WORDS in suspicion_of(Outputs(logits=rows["logits"], labels=moved, shift=np.full(400, "covariate")))


@pytest.mark.parametrize(("classes", "guessed"), [(0, 0.5), (2, 0.5), (10, 0.1)])
def test_the_limit_is_that_of_an_exact_binomial_test(classes, guessed):
    from scipy.stats import binom

    most = int(binom.ppf(1e-3, 200, guessed))  # the smallest count of right ones that chance explains
    assert suspicion(200 - most, 200, samples=200, classes=classes) == ""
    words = suspicion(201 - most, 200, samples=200, classes=classes)
    assert (WORDS if classes else "of the answers are wrong") in words


def test_copies_of_a_sample_count_once():
    wrong = np.arange(8) > 0
    rows = Outputs(
        confidences={"a": np.repeat(np.arange(8.0), 50)}, errors=np.repeat(wrong, 50), ids=np.repeat(range(8), 50)
    )
    assert suspicion_of(rows) == ""
