"""The registry of scores is complete, and every score says what it is."""

import abstain.scores
from abstain.scores import SCORES


def test_every_score_of_the_registry_is_a_public_class():
    assert {type(score).__name__ for score in SCORES.values()} <= set(abstain.scores.__all__)


def test_every_score_says_what_it_is():
    for score in SCORES.values():
        assert score.about.summary.endswith(".")
        assert score.about.reference
        assert type(score).__doc__


def test_all_is_sorted_and_exists():
    names = abstain.scores.__all__
    assert len(set(names)) == len(names)
    assert all(hasattr(abstain.scores, name) for name in names)
