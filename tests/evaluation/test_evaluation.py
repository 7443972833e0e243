"""The result of an evaluation, as people look into it."""

import pytest

from abstain import Outputs, evaluate


def test_missing_rows_are_named(mixed_outputs):
    evaluation = evaluate(mixed_outputs(), scores=["energy"])
    with pytest.raises(KeyError, match=r"no row for score 'energy', mix 'in' and alpha 0.3"):
        evaluation.row("energy", "in", 0.3)
    with pytest.raises(KeyError, match="no rows for mix 'in'"):
        evaluation.best("in", 0.3)


def test_rows_become_frames(mixed_outputs):
    evaluation = evaluate(mixed_outputs(), scores=["energy"])
    assert evaluation.to_polars()["aurc"].to_list() == evaluation.to_pandas()["aurc"].tolist()


def test_one_score_is_called_one():
    evaluation = evaluate(Outputs(given={"a": [0.1, 0.2, 0.3]}, errors=[True, False, False]))
    assert repr(evaluation).startswith("<Evaluation of 1 score on 3 rows")
