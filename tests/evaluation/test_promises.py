import numpy as np

from abstain.evaluation import promises
from abstain.evaluation.promises import kept_promises


def test_whether_ids_are_given_decides_the_rule_not_whether_one_repeats(monkeypatch):
    rng = np.random.default_rng(0)
    confidence = rng.random(1200)
    errors = rng.random(1200) < 0.4 * (1 - confidence)
    usual = {ids is None: kept_promises(confidence, errors, ids=ids) for ids in (None, np.arange(1200))}
    monkeypatch.setattr(promises, "MANY", 100)
    assert kept_promises(confidence, errors, ids=np.arange(1200)) == usual[False]
    assert kept_promises(confidence, errors) != usual[True]
