"""`evaluate` reads logits that may be on disk once, in whatever way rows are taken."""

import numpy as np

from abstain import evaluate


class Counted(np.ndarray):
    """Logits that count the rows read from them; what was read is in memory and counts no more."""

    rows = 0
    is_whole = False

    def __getitem__(self, key):
        result = super().__getitem__(key)
        if self.is_whole and result.ndim == 2:
            Counted.rows += len(result)
        return result

    def __array_ufunc__(self, ufunc, method, *given, **named):
        Counted.rows += sum(len(each) for each in given if isinstance(each, Counted) and each.is_whole)
        plain = [each.view(np.ndarray) if isinstance(each, Counted) else each for each in given]
        return getattr(ufunc, method)(*plain, **named)


def counted(outputs):
    outputs.__dict__["logits"] = outputs.logits.view(Counted)
    outputs.logits.is_whole = True
    Counted.rows = 0
    return outputs


def test_the_logits_are_read_once_by_all_scores(mixed_outputs, monkeypatch):
    monkeypatch.setattr("abstain.outputs.rows.ALWAYS_COPIED", 0)
    monkeypatch.setattr("abstain._draws.LARGEST", 4 * 100)  # elements that the draw of rows to fit on looks at
    outputs = counted(mixed_outputs())
    evaluation = evaluate(outputs)
    assert len(evaluation.scores) > 10
    looked = 100 + 16  # and those that show whether the logits are log-probabilities
    assert len(evaluation.outputs) < Counted.rows <= len(outputs) + looked


def test_rows_taken_later_change_nothing(mixed_outputs, monkeypatch):
    copied = evaluate(mixed_outputs())
    monkeypatch.setattr("abstain.outputs.rows.ALWAYS_COPIED", 0)
    assert evaluate(mixed_outputs()).rows == copied.rows
