"""The result of an evaluation, as people look into it."""

import pytest

from abstain import Evaluation, Outputs, evaluate


def test_missing_rows_are_named(mixed_outputs):
    evaluation = evaluate(mixed_outputs(), scores=["energy"])
    with pytest.raises(
        KeyError,
        match=r"No row has score 'energy', mix 'in' and alpha 0.3\. There are scores .+; mixes in.*; alphas 0.1, ",
    ):
        evaluation.row("energy", "in", 0.3)
    with pytest.raises(KeyError, match=r"No row has mix 'in' and alpha .+ There are scores .+; mixes .+; alphas "):
        evaluation.best("in", 0.3)


def test_rows_become_frames(mixed_outputs):
    evaluation = evaluate(mixed_outputs(), scores=["energy"])
    assert evaluation.to_polars()["aurc"].to_list() == evaluation.to_pandas()["aurc"].tolist()


def test_one_score_is_called_one():
    evaluation = evaluate(Outputs(confidences={"a": [0.1, 0.2, 0.3]}, errors=[True, False, False]))
    assert repr(evaluation).startswith("<Evaluation of 1 score on 3 rows")


def test_a_row_is_a_frozen_value_and_a_dictionary_only_at_the_edge(mixed_outputs):
    evaluation = evaluate(mixed_outputs(), scores=["energy", "max_softmax"])
    row = evaluation.row("energy", "in", 1.0)
    assert row in evaluation.areas
    assert row.to_dict() in evaluation.rows
    assert list(row.to_dict()) == ["score", "mix", "alpha", "aurc", "se", "low", "high", "n", "errors", "best", "tied"]
    with pytest.raises(AttributeError):
        row.aurc = 0.0


@pytest.mark.parametrize("show", [repr, str, Evaluation._repr_html_])
def test_showing_an_evaluation_fits_nothing(mixed_outputs, monkeypatch, show):
    evaluation = evaluate(mixed_outputs(), scores=["energy", "max_softmax"])
    monkeypatch.setattr(Evaluation, "learning", lambda *_: pytest.fail("a model is fitted"))
    assert "max_softmax" in show(evaluation)
