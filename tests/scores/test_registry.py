import pytest

from abstain.scores.registry import default_score, default_words


def test_the_default_is_settled_whatever_else_is_there():
    assert default_score(["vendor", "confidence_margin", "energy"]) == "confidence_margin"
    assert default_score(["vendor"]) == "vendor"


def test_of_several_others_one_must_be_named():
    with pytest.raises(
        ValueError, match="`score` must name one of a, b, as the default, confidence_margin, is not among them"
    ):
        default_score(["a", "b"])


def test_the_words_say_how_to_take_another():
    assert "--score NAME takes another" in default_words("confidence_margin")
    assert default_words("vendor") == "Score: vendor, the only one that can be used here."
