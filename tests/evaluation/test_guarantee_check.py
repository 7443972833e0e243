import numpy as np

from abstain.evaluation import guarantee_check as guarantees
from abstain.evaluation.guarantee_check import kept_guarantees


def test_whether_ids_are_given_decides_the_rule_not_whether_one_repeats(monkeypatch):
    rng = np.random.default_rng(0)
    confidence = rng.random(1200)
    errors = rng.random(1200) < 0.4 * (1 - confidence)
    usual = {ids is None: kept_guarantees(confidence, errors, ids=ids) for ids in (None, np.arange(1200))}
    monkeypatch.setattr(guarantees, "MANY", 100)
    assert kept_guarantees(confidence, errors, ids=np.arange(1200)) == usual[False]
    assert kept_guarantees(confidence, errors) != usual[True]
