"""PRR, AUARC and accuracy at coverage, against the definition that lm-polygraph's code has."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from abstain import Outputs, evaluate
from abstain.metrics import accuracy_at_coverage, auarc, prediction_rejection_ratio

PUBLISHED = Path(__file__).parents[1] / "answers" / "peers" / "lm_polygraph_prr.json"


def published_area(uncertainty, quality, max_rejection):
    """`PredictionRejectionArea` of lm-polygraph 0.7: the mean quality of the k least uncertain, k > n − rejected."""
    quality = (np.asarray(quality) - np.min(quality)) / np.ptp(quality)
    n, rejected = len(quality), int(max_rejection * len(quality))
    means = np.cumsum(quality[np.argsort(uncertainty)]) / np.arange(1, n + 1)
    return means[n - rejected :].mean()


def published_ratio(uncertainty, quality, max_rejection):
    """Its normalization, with the random area in expectation instead of by 1,000 shuffles."""
    own, oracle = (published_area(u, quality, max_rejection) for u in (uncertainty, -np.asarray(quality)))
    random = (np.mean(quality) - np.min(quality)) / np.ptp(quality)
    return (own - random) / (oracle - random)


@pytest.mark.parametrize("max_rejection", [1.0, 0.5, 0.37])
@pytest.mark.parametrize("graded", [False, True])
def test_without_ties_it_is_what_lm_polygraph_computes(max_rejection, graded):
    rng = np.random.default_rng(0)
    losses = rng.random(137) if graded else (rng.random(137) < 0.3).astype(float)
    confidence = rng.normal(size=137) - losses
    expected = published_ratio(-confidence, 1 - losses, max_rejection)
    assert prediction_rejection_ratio(confidence, losses, max_rejection=max_rejection) == pytest.approx(expected)


def test_it_is_what_lm_polygraph_itself_computed():
    """Areas and ratios that its own code wrote; its random area is a mean of 1,000 shuffles, ours the expectation."""
    for case in json.loads(PUBLISHED.read_text(encoding="utf-8")):
        quality, max_rejection = np.array(case["quality"]), case["max_rejection"]
        ratio = prediction_rejection_ratio(-np.array(case["uncertainty"]), 1 - quality, max_rejection=max_rejection)
        random = (quality.mean() - quality.min()) / np.ptp(quality)
        assert ratio == pytest.approx((case["area"] - random) / (case["oracle"] - random), rel=1e-9)
        assert ratio == pytest.approx(case["ratio"], abs=0.01)


@pytest.mark.parametrize("max_rejection", [1.0, 0.5])
def test_ties_are_the_mean_over_their_orders(max_rejection):
    confidence, losses = np.array([3.0, 2, 2, 2, 1, 1]), np.array([0, 1, 0, 0.5, 1, 0])
    each = [
        published_ratio(np.argsort(np.lexsort((order, -confidence))), 1 - losses, max_rejection)
        for order in permutations(range(6))
    ]
    result = prediction_rejection_ratio(confidence, losses, max_rejection=max_rejection)
    assert result == pytest.approx(np.mean(each))


def test_auarc_is_the_mean_accuracy_over_all_numbers_accepted():
    rng = np.random.default_rng(2)
    losses, confidence = rng.random(50), rng.normal(size=50)
    accuracy = 1 - np.cumsum(losses[np.argsort(-confidence)]) / np.arange(1, 51)
    assert auarc(confidence, losses) == pytest.approx(accuracy.mean())
    assert accuracy_at_coverage(confidence, losses, coverage=0.4) == pytest.approx(accuracy[19])


def test_a_ratio_needs_losses_that_differ():
    with pytest.raises(ValueError, match="`losses` must differ between samples for a ratio, got 0 for all"):
        prediction_rejection_ratio([1.0, 2.0], [0, 0])


def test_a_ratio_needs_two_rejected_samples():
    with pytest.raises(ValueError, match="`max_rejection` must reject at least 2 samples"):
        prediction_rejection_ratio([3.0, 2.0, 1.0], [0, 0, 1], max_rejection=0.4)


def test_evaluate_has_them():
    rng = np.random.default_rng(3)
    outputs = Outputs(confidences={"a": rng.normal(size=300)}, errors=rng.random(300) < 0.3)
    names = ["prr(max_rejection=0.5)", "auarc", "accuracy_at_coverage(coverage=0.5)"]
    rows = {row["metric"]: row["value"] for row in evaluate(outputs, metrics=names).extra_metrics}
    assert rows["auarc"] == pytest.approx(auarc(outputs.confidence("a"), outputs.errors))
    ratio = prediction_rejection_ratio(outputs.confidence("a"), outputs.errors, max_rejection=0.5)
    assert ratio in [pytest.approx(value) for value in rows.values()]
    right = Outputs(confidences={"a": rng.normal(size=300)}, errors=np.zeros(300))
    assert not [row for row in evaluate(right, metrics="prr").extra_metrics if row["metric"] == "prr"]
