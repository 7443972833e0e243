"""Whether a combination of scores would pay."""

from types import SimpleNamespace

import numpy as np
import pytest

from abstain import Outputs
from abstain.evaluation.learned_gain import learning
from abstain.evaluation.mixes import MIXES


def _alternating(n, seed):
    """Rows of two kinds in turn, of which one is always right and the other as one of two scores tells."""
    rng = np.random.default_rng(seed)
    confidence = {"blind": rng.normal(size=n), "telling": rng.normal(size=n)}
    wrong = (np.arange(n) % 2 == 1) & (confidence["telling"] + rng.normal(size=n) < 0)
    return confidence, Outputs(logits=np.tile([3.0, 0.0], (n, 1)), labels=wrong.astype(int))


def test_rows_of_kinds_that_alternate_are_learned_from_alike():
    confidence, outputs = _alternating(12_000, 0)
    result = learning(confidence, outputs, score="blind", mix=MIXES["all"], alpha=1.0, level=0.95)
    assert result is not None
    assert result.learned < 0.7 * result.alone
    assert (result.learned_from, result.n) == (1000, 5000)


def test_a_score_that_tells_all_is_left_alone():
    confidence, outputs = _alternating(3000, 1)
    assert learning(confidence, outputs, score="telling", mix=MIXES["all"], alpha=1.0, level=0.95) is None


@pytest.mark.parametrize(("gain", "is_said"), [(0.00002, False), (0.0002, True)])
def test_a_gain_that_print_does_not_show_is_not_said(monkeypatch, gain, is_said):
    """However significant: 0.55 is no advice where the score alone has 0.55."""
    confidence, outputs = _alternating(3000, 1)
    tiny = SimpleNamespace(difference=-gain, high=-gain / 2)
    monkeypatch.setattr("abstain.evaluation.learned_gain.compare", lambda *_, **__: tiny)
    result = learning(confidence, outputs, score="blind", mix=MIXES["all"], alpha=1.0, level=0.95)
    assert (result is not None) == is_said
