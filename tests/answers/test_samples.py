"""Agreement and discrete semantic entropy, and the normal form that both compare."""

from collections import Counter
from math import isnan, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from abstain.answers import agreement, clusters, neg_semantic_entropy, normal_form
from abstain.answers.normal_form import as_text

ANSWERS = st.lists(st.sampled_from(["Paris", "paris.", "Lyon", "Rome ", "rome"]), min_size=2, max_size=9)


@given(ANSWERS)
def test_entropy_is_that_of_the_shares(answers):
    counts = Counter(map(normal_form, answers))
    assert -neg_semantic_entropy(answers) == pytest.approx(entropy(list(counts.values())), abs=1e-12)


@given(ANSWERS, st.randoms())
def test_the_order_of_answers_changes_no_bit(answers, random):
    assert neg_semantic_entropy(random.sample(answers, len(answers))) == neg_semantic_entropy(answers)


@given(ANSWERS)
def test_agreement_is_a_share_of_samples(answers):
    first, *others = answers
    same = [sample for sample in others if normal_form(sample) == normal_form(first)]
    assert agreement(first, others) == len(same) / len(others)


def test_all_the_same_and_all_different_are_the_ends():
    assert neg_semantic_entropy(["a", "A", "a."]) == 0
    assert neg_semantic_entropy(["a", "b", "c"]) == pytest.approx(-log(3))


def test_too_few_answers_have_no_signal():
    assert isnan(agreement("a", []))
    assert isnan(neg_semantic_entropy(["a"]))
    assert isnan(neg_semantic_entropy([]))


def test_one_sample_agrees_or_not():
    assert (agreement("a", ["A"]), agreement("a", ["b"])) == (1, 0)


def test_equivalence_may_be_any_function():
    def same_length(a, b):
        return len(a) == len(b)

    assert agreement("Rome", ["Oslo", "Paris"], equivalent=same_length) == 0.5
    assert clusters(["Rome", "Oslo", "Paris"], equivalent=same_length) == [0, 0, 1]


def test_an_equivalence_that_is_not_transitive_goes_by_first_members():
    def near(a, b):
        return abs(int(a) - int(b)) <= 1

    assert clusters(["1", "2", "3"], equivalent=near) == [0, 0, 1]
    assert clusters(["2", "1", "3"], equivalent=near) == [0, 0, 0]


def test_the_normal_form_can_be_replaced():
    assert agreement("Answer: 4", ["4"], normalize=lambda answer: answer.rpartition(" ")[2]) == 1
    assert agreement("Paris", ["paris"], normalize=str) == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Łódź", "ŁÓDŹ"),
        ("caf\u00e9", "cafe\u0301"),
        ("stra\u00dfe", "STRASSE"),
        ("“Paris”", "paris"),
        ("a\u00a0 b", "a b"),
        ("\u0130", "i\u0307"),
    ],
)
def test_the_same_text_has_one_normal_form(a, b):
    assert normal_form(a) == normal_form(b)


@pytest.mark.parametrize(("a", "b"), [("3.5", "35"), ("-5", "5"), ("10²", "102"), ("resume", "résumé"), ("", "0")])
def test_what_means_something_else_stays_apart(a, b):
    assert normal_form(a) != normal_form(b)


@given(st.text())
def test_the_normal_form_is_its_own(text):
    assert normal_form(normal_form(text)) == normal_form(text)


def test_answers_of_any_kind_have_a_text():
    assert as_text(3) == as_text(3.0) == "3"
    assert as_text({"a": 1, "b": 2}) == as_text({"b": 2, "a": 1})
    assert as_text(True) != as_text(1)
    assert as_text(float("nan")) is None
