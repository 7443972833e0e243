import numpy as np
import pytest

from abstain import Outputs
from abstain.outputs.taken import Taken

RNG = np.random.default_rng(0)
Z, X = RNG.normal(size=(60, 4)).astype(np.float32), RNG.normal(size=(60, 3))
ROWS = RNG.permutation(60)[:40]


@pytest.fixture
def later(monkeypatch):
    monkeypatch.setattr("abstain.outputs.taken.ALWAYS_COPIED", 0)
    return Outputs(logits=Z, features=X, labels=Z.argmax(axis=1)).select(ROWS)


def test_rows_are_taken_when_they_are_looked_at(later):
    assert isinstance(later.source("logits"), Taken)
    np.testing.assert_array_equal(later.source("logits")[3:9], Z[ROWS[3:9]])
    np.testing.assert_array_equal(later.logits, Z[ROWS])
    np.testing.assert_array_equal(later.features, X[ROWS])
    assert later.source("logits") is later.logits  # from now on


def test_nothing_else_makes_them_be_copied(later):
    assert (len(later), later.n_classes) == (40, 4)
    assert not later.errors.any()
    assert not later.are_log_probabilities
    assert "features" in repr(later)
    later.generator("a test", 0)
    assert isinstance(later.source("logits"), Taken)


def test_rows_of_rows(later):
    np.testing.assert_array_equal(later.select([5, -1, 2]).logits, Z[ROWS[[5, -1, 2]]])
    np.testing.assert_array_equal(later[10:20].features, X[ROWS[10:20]])


def test_they_cannot_be_changed(later):
    with pytest.raises(ValueError, match="read-only"):
        later.logits[0, 0] = 1


def test_the_draw_is_that_of_copied_rows(later):
    copied = Outputs(logits=Z[ROWS], features=X[ROWS], labels=Z[ROWS].argmax(axis=1))
    np.testing.assert_array_equal(later.split(0.5)[0].logits, copied.split(0.5)[0].logits)


def test_outputs_have_no_other_attributes(later):
    with pytest.raises(AttributeError, match="has no attribute 'logit'"):
        _ = later.logit
