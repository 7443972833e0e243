"""The contract of every metric in the registry."""

import numpy as np
import pytest

from abstain import metrics
from abstain.metrics import METRICS, SampleRows, class_weights


def sample(name, rng, n=300):
    """Rows that allow the metric, and a confidence."""
    labels = rng.integers(3, size=n)
    if "unknown" in METRICS[name].needs:
        labels[rng.random(n) < 0.4] = -1
    logits = rng.normal(size=(n, 3)) + 2 * np.eye(3)[labels] * (labels >= 0)[:, None]
    top = np.sort(logits, axis=1)
    return {"labels": labels, "logits": logits, "ids": rng.integers(n // 2, size=n)}, (top[:, -1] - top[:, -2]).round(2)


def ranked(parts, confidence, rows=slice(None), **without):
    chosen = {key: part[rows] for key, part in parts.items()} | without
    errors = parts["logits"].argmax(1)[rows] != parts["labels"][rows]
    return SampleRows.of(errors, **chosen).rank(confidence[rows])


@pytest.mark.parametrize("name", METRICS)
def test_no_order_of_rows_changes_a_digit(name):
    rng = np.random.default_rng(0)
    parts, confidence = sample(name, rng)
    value = METRICS[name](ranked(parts, confidence))
    assert np.isfinite(value.value)
    assert value == METRICS[name](ranked(parts, confidence, rng.permutation(len(confidence))))


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if "softmax" not in m.needs])
def test_the_better_of_two_scores_is_on_the_side_that_is_said(name):
    """Confidence with and without the errors (or the unknown classes) moved to the end."""
    rng = np.random.default_rng(1)
    parts, confidence = sample(name, rng)
    bad = parts["labels"] < 0 if "unknown" in METRICS[name].needs else parts["logits"].argmax(1) != parts["labels"]
    better, worse = (METRICS[name](ranked(parts, confidence - sign * 2 * bad)).value for sign in (1, -1))
    assert better < worse if METRICS[name].better == "small" else better > worse


SIMULATED = [name for name in METRICS if METRICS[name](ranked(*sample(name, np.random.default_rng(2)))).se is not None]


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("name", SIMULATED)
def test_standard_errors_are_the_spread_over_samples(name, clustered):
    rng, result, errors = np.random.default_rng(3), [], []
    for _ in range(150):
        parts, confidence = sample(name, rng, n=200)
        rows = np.repeat(np.arange(200), 3) if clustered else slice(None)
        value = METRICS[name](ranked(parts, confidence, rows, ids=rows if clustered else None))
        result.append(value.value)
        errors.append(value.se)
    assert np.mean(errors) == pytest.approx(np.std(result), rel=0.2)


@pytest.mark.parametrize("alpha", [0.7, 1.0])
def test_the_error_of_the_excess_leaves_out_what_the_oracle_shares(alpha):
    """With many errors, most of what moves AURC moves the oracle too."""
    rng, result, errors, plain = np.random.default_rng(5), [], [], []
    for _ in range(200):
        u = rng.random(400)
        ranking = SampleRows.of(rng.random(400) < u**0.5).rank(-u)
        value = METRICS["excess_aurc"](ranking, at=alpha)
        result.append(value.value)
        errors.append(value.se)
        plain.append(METRICS["aurc"](ranking, at=alpha).se)
    assert np.mean(errors) == pytest.approx(np.std(result), rel=0.15)
    assert np.mean(plain) > 1.5 * np.std(result)


def test_the_error_of_auroc_is_that_of_delong():
    rng = np.random.default_rng(6)
    c, labels = rng.integers(4, size=900), rng.integers(-1, 2, size=900)
    inside, outside = c[labels >= 0, None], c[labels < 0]
    wins = (inside > outside) + 0.5 * (inside == outside)
    delong = np.sqrt(np.var(wins.mean(1), ddof=1) / len(inside) + np.var(wins.mean(0), ddof=1) / len(outside))
    value = METRICS["ood_auroc"](SampleRows.of(labels < 0, labels=labels).rank(c))
    assert value.value == pytest.approx(wins.mean(), rel=1e-12)
    assert value.se == pytest.approx(delong, rel=3e-3)


def test_the_standard_errors_that_are_known():
    known = {"aurc", "augrc", "excess_aurc", "auarc", "balanced_aurc", "balanced_augrc", "brier_score", "log_loss"}
    assert {*known, "ood_auroc"} <= set(SIMULATED)


def test_values_are_those_of_the_functions():
    parts, c = sample("ood_auroc", np.random.default_rng(4))
    y, z = parts["labels"], parts["logits"]
    e, known, ranking = z.argmax(1) != y, y >= 0, ranked(parts, c)
    sides, weights = (c[known], c[~known]), class_weights(y)
    expected = {
        "aurc": metrics.aurc(c, e, alpha=0.3),
        "augrc": metrics.augrc(c, e),
        "excess_aurc": metrics.excess_aurc(c, e, alpha=0.3),
        "risk_at_coverage": metrics.risk_at_coverage(c, e, coverage=0.3),
        "coverage_at_risk": metrics.coverage_at_risk(c, e, risk=0.3),
        "balanced_aurc": metrics.aurc(c, e, alpha=0.3, weights=weights),
        "balanced_augrc": metrics.augrc(c, e, weights=weights),
        "balanced_risk_at_coverage": metrics.risk_at_coverage(c, e, coverage=0.3, weights=weights),
        "balanced_coverage_at_risk": metrics.coverage_at_risk(c, e, risk=0.3, weights=weights),
        "prr": metrics.prediction_rejection_ratio(c, e, max_rejection=0.3),
        "auarc": metrics.auarc(c, e),
        "accuracy_at_coverage": metrics.accuracy_at_coverage(c, e, coverage=0.3),
        "calibration_error": metrics.calibration_error(z, y),
        "calibration_error_width": metrics.calibration_error(z, y, binning="equal_width"),
        "ood_auroc": metrics.ood_auroc(*sides),
        "ood_aupr_in": metrics.ood_aupr(*sides),
        "ood_aupr_out": metrics.ood_aupr(*sides, positive="out"),
        "fpr_at_tpr": metrics.fpr_at_tpr(*sides, tpr=0.3),
    }
    assert {name: METRICS[name](ranking, at=0.3).value for name in expected} == expected
    inside = ranked(parts, c, known)
    assert METRICS["brier_score"](inside).value == metrics.brier_score(z[known], y[known])
    assert METRICS["log_loss"](inside).value == metrics.log_loss(z[known], y[known])


def test_what_the_rows_lack_is_said():
    plain, unknown = SampleRows.of([0, 1]), SampleRows.of([0, 1], labels=[0, -1], logits=np.eye(2))
    assert METRICS["aurc"].objection(plain) is None
    assert METRICS["balanced_aurc"].objection(plain) == "no labels"
    assert METRICS["brier_score"].objection(SampleRows.of([0, 1], labels=[0, 1])) == "no logits"
    assert METRICS["brier_score"].objection(unknown) == "some unknown classes"
    assert METRICS["calibration_error"].objection(unknown) is None
    assert METRICS["ood_auroc"].objection(unknown) is None
    assert METRICS["ood_auroc"].objection(SampleRows.of([0], labels=[-1])) == "not both known and unknown classes"
    assert METRICS["ood_auroc"].objection(SampleRows.of([0, 1], labels=[0, -1], weights=[1, 2])) == "weights"


@pytest.mark.parametrize(("name", "message"), [
    ("balanced_aurc", "class-balanced metric must have labels"),
    ("brier_score", "`logits` must be given for a metric of the softmax"),
    ("ood_auroc", "must have rows of known and of unknown classes"),
])  # fmt: skip
def test_measuring_anyway_is_an_error(name, message):
    with pytest.raises(ValueError, match=message):
        METRICS[name](SampleRows.of([0, 1]).rank([1.0, 2.0]))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_every_metric_has_a_title_in_words_with_its_parameter(metric):
    assert not set("_{}") & set(metric.title())
    assert (metric.title(at=0.37) != metric.title(at=0.38)) == (metric.parameter is not None)
