"""The table of scores is everywhere that of the registry."""

import importlib.util
from pathlib import Path

import abstain.scores
from abstain.scores import SCORES

DOCS = Path(__file__).parents[2] / "docs"


def _scores_table():
    spec = importlib.util.spec_from_file_location("scores_table", DOCS / "scores_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_docs_have_the_table_of_the_registry():
    module = _scores_table()
    page = module.PAGE.read_text()
    assert page == module.with_table(page), "docs/scores.md must have the registry's table: run docs/scores_table.py."
    assert page.count("\n| `") >= len(SCORES)


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
