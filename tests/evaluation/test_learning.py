import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.evaluation import verdict


def outputs(n, *, both, copies=1, seed=0):
    """Errors that two scores each tell a half of, or that one tells alone."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n, 3))
    wrong = rng.random(n) < 0.3
    labels = np.where(wrong, (logits.argmax(1) + 1) % 3, logits.argmax(1))
    kind = (rng.random(n) < 0.5) if both else np.ones(n, bool)
    given = {"one": rng.normal(size=n) - 2 * (wrong & kind), "other": rng.normal(size=n) - 2 * (wrong & ~kind)}
    rows = np.repeat(np.arange(n), copies)
    return Outputs(
        logits=logits[rows],
        labels=labels[rows],
        confidences={k: v[rows] for k, v in given.items()},
        ids=rows.astype(str),
    )


def test_a_learned_score_is_said_to_pay_where_scores_tell_different_errors():
    judgement = verdict(evaluate(outputs(2000, both=True), scores=["one", "other"]))
    assert judgement.learning is not None
    assert judgement.learning.learned < 0.9 * judgement.learning.alone
    assert f"A learned score would pay: all scores, weighed on {judgement.learning.learned_from:,}" in judgement.words
    assert judgement.learning.learned_from + judgement.learning.n == 2000


def test_nothing_is_said_where_one_score_tells_all():
    said = [
        verdict(evaluate(outputs(600, both=False, seed=seed), scores=["one", "other"])).learning for seed in range(20)
    ]
    assert sum(result is not None for result in said) <= 2


def test_copies_of_a_sample_count_once():
    once, often = (verdict(evaluate(outputs(60, both=True, copies=c), scores=["one", "other"])) for c in (1, 30))
    assert once.learning is None  # too few errors to learn from
    assert often.learning is None or often.learning.learned_from == 30 * 30


@pytest.mark.parametrize("scores", [["one"], ["one", "other"]])
def test_few_rows_and_one_score_tell_nothing(scores):
    assert verdict(evaluate(outputs(30, both=True), scores=scores)).learning is None


def test_nothing_is_said_beside_a_score_that_is_learned_already():
    both = outputs(2000, both=True)
    assert verdict(evaluate(both, scores=["one", "other"])).learning is not None
    assert verdict(evaluate(both, scores=["one", "other", "learned"])).learning is None


def test_it_is_learned_once_however_often_it_is_asked_for(monkeypatch):
    from abstain.evaluation import evaluation as module

    result, asked = evaluate(outputs(200, both=True), scores=["one", "other"]), []
    monkeypatch.setattr(module, "learning", lambda *_, **options: asked.append(options))
    assert verdict(result) == verdict(result)
    verdict(result, alpha=0.5)
    assert [options["alpha"] for options in asked] == [1.0, 0.5]
