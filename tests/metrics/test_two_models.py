"""Two models on the same samples: oracles of the influence functions, and how often intervals hold."""

from math import sqrt

import numpy as np
import pytest

from abstain.metrics import coverage_at_risk, rank, risk_at_coverage
from abstain.metrics.operating_points import crossing, rates_at_cut, risk_influence
from abstain.metrics.two_models import TwoModels

POINTS = {
    "aurc": lambda two: two.aurc(),
    "risk": lambda two: two.risk(coverage=0.8),
    "low coverage": lambda two: two.risk(coverage=0.3),
    "coverage": lambda two: two.coverage(risk=0.05),
    "coverage at the other's risk": lambda two: two.coverage_at_risk_of_b(coverage=0.8),
}


def draw(rng, n, *, quality=(1.0, 1.0), harder=-1.0, per_cluster=1):
    """Confidences and errors of two models that see the same samples, and the clusters of these."""
    samples = n // per_cluster
    latent = np.repeat(rng.normal(size=samples), per_cluster)
    if per_cluster > 1:
        latent = 0.8 * latent + 0.6 * rng.normal(size=n)
    shared = rng.normal(size=n)
    result = []
    for each in quality:
        errors = latent + 0.45 * shared + 0.22 * rng.normal(size=n) < harder
        result += [each * latent + 0.7 * rng.normal(size=n), errors]
    return result, np.repeat(np.arange(samples), per_cluster)


def two_models(rng, n, **options):
    columns, ids = draw(rng, n, **options)
    return TwoModels.of(*columns, ids=ids)


def test_the_variance_of_independent_rows_is_the_closed_form():
    columns, _ = draw(np.random.default_rng(1), 2000)
    ranking = rank(columns[0], columns[1])
    risk, influence = risk_influence(ranking, 0.6)
    rate = rates_at_cut(ranking.groups, np.array([1200]))[0]
    assert risk == risk_at_coverage(columns[0], columns[1], coverage=0.6)
    assert influence.share @ columns[1] == pytest.approx(risk)
    assert influence.centred.mean() == pytest.approx(0, abs=1e-12)
    assert influence.centred.var() == pytest.approx((risk * (1 - risk) + 0.4 * (rate - risk) ** 2) / 0.6)


@pytest.mark.parametrize("per_cluster", [1, 4])
def test_the_running_errors_are_those_of_each_rank(per_cluster):
    columns, ids = draw(np.random.default_rng(2), 400, per_cluster=per_cluster)
    columns[0] = columns[0].round(1)
    a, b = (rank(columns[i], columns[i + 1], ids=ids) for i in (0, 2))
    from abstain.metrics.clusters import standard_error
    from abstain.metrics.operating_points import _errors

    _, other = risk_influence(b, 0.7)
    ks = np.cumsum(a.groups.counts)
    risks, rates = np.cumsum(a.groups.losses) / ks, rates_at_cut(a.groups, ks)
    result = _errors(a, ks, risks, rates, other)
    for path in (3, 20, len(ks) - 2):
        by_hand = risk_influence(a, ks[path] / 400)[1].centred - other.centred
        assert result[path] == pytest.approx(standard_error(by_hand, a.rows.clusters))


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("per_cluster", [1, 4])
def test_standard_errors_are_those_of_a_bootstrap_of_clusters(name, per_cluster):
    rng, n = np.random.default_rng(3), 2000
    columns, ids = draw(rng, n, quality=(2.0, 0.8), per_cluster=per_cluster)
    result = []
    for _ in range(150):
        drawn = rng.integers(n // per_cluster, size=n // per_cluster)
        rows = (drawn[:, None] * per_cluster + np.arange(per_cluster)).ravel()
        result.append(POINTS[name](TwoModels.of(*(column[rows] for column in columns))).difference)
    se = POINTS[name](TwoModels.of(*columns, ids=ids)).se
    assert se == pytest.approx(np.std(result), rel=0.25)


@pytest.mark.parametrize(
    ("n", "harder", "per_cluster"), [(800, -1.0, 1), (300, -2.0, 1), (800, -1.0, 4)], ids=["rows", "few", "clusters"]
)
def test_equal_models_are_rarely_called_different(n, harder, per_cluster):
    rng, trials = np.random.default_rng(4), 150
    called = dict.fromkeys(POINTS, 0)
    for _ in range(trials):
        two = two_models(rng, n, harder=harder, per_cluster=per_cluster)
        for name, point in POINTS.items():
            called[name] += point(two).is_significant
    assert max(called.values()) / trials <= 0.05 + 3 * sqrt(0.05 * 0.95 / trials)


def test_a_test_that_forgets_the_cut_or_the_clusters_calls_equal_models_different():
    rng, trials, naive = np.random.default_rng(5), 150, 0
    for _ in range(trials):
        samples = [column[::8] for column in draw(rng, 1600, per_cluster=8)[0]]
        copies = [np.repeat(column, 8) for column in samples]
        naive += TwoModels.of(*copies).risk(coverage=0.8).is_significant
    assert naive / trials > 0.3


def test_a_known_difference_is_inside_the_intervals_and_is_found():
    rng, trials = np.random.default_rng(6), 100
    options = {"quality": (2.0, 0.8), "per_cluster": 2}
    truth = {name: point(two_models(rng, 400_000, **options)).difference for name, point in POINTS.items()}
    held, message = dict.fromkeys(POINTS, 0), dict.fromkeys(POINTS, 0)
    for _ in range(trials):
        two = two_models(rng, 1000, **options)
        for name, point in POINTS.items():
            apart = point(two)
            held[name] += apart.low <= truth[name] <= apart.high
            message[name] += apart.is_significant
    assert min(held.values()) / trials >= 0.95 - 3 * sqrt(0.05 * 0.95 / trials)
    assert min(message[name] for name in POINTS if name != "low coverage") / trials > 0.8


@pytest.mark.parametrize("name", POINTS)
def test_a_model_is_no_better_than_itself(name):
    (confidence, errors, *_), ids = draw(np.random.default_rng(7), 500, per_cluster=2)
    pair = POINTS[name](TwoModels.of(confidence.round(1), errors, confidence.round(1), errors, ids=ids))
    assert pair.difference == pair.se == pair.low == pair.high == 0


@pytest.mark.parametrize("name", POINTS)
def test_another_scale_of_the_same_confidence_is_no_difference(name):
    (confidence, errors, *_), _ = draw(np.random.default_rng(7), 300)
    pair = POINTS[name](TwoModels.of(confidence, errors, 3 * confidence + 1, errors))
    assert pair.difference == pair.low == pair.high == 0


def versions(rng, n, changed, *, fixed):
    """Two versions of a model that part on some rows alone, where one of them errs, the first as often as told."""
    confidence, wrong = rng.normal(size=n), rng.random(n) < 0.05
    differ, first = rng.random(n) < changed / n, rng.random(n) < fixed
    other = np.where(differ, rng.normal(size=n), confidence)
    return TwoModels.of(confidence, np.where(differ, first, wrong), other, np.where(differ, ~first, wrong))


@pytest.mark.parametrize("changed", [3, 10, 30])
def test_versions_that_differ_in_few_rows_are_rarely_told_apart_by_chance_and_soon_where_one_is_better(changed):
    rng, trials = np.random.default_rng(10), 200
    points = {"aurc": lambda two: two.aurc(), "risk": lambda two: two.risk(coverage=0.8)}
    called = dict.fromkeys(points, 0)
    for _ in range(trials):
        two = versions(rng, 500, changed, fixed=0.5)
        for name, point in points.items():
            called[name] += point(two).is_significant
    assert max(called.values()) / trials <= 0.05 + 3 * sqrt(0.05 * 0.95 / trials)
    message = np.mean([versions(rng, 500, changed, fixed=1.0).aurc().is_significant for _ in range(50)])
    assert message >= (0.9 if changed == 30 else 0.0)


def test_one_row_tells_no_models_apart_however_little_the_other_one_trusts_it():
    confidence = np.arange(400.0)
    other, errors = confidence.copy(), np.zeros(400)
    other[395], errors[395] = -1.0, 1.0
    for alpha in (0.1, 0.5, 1.0):
        assert not TwoModels.of(confidence, errors, other, np.zeros(400)).aurc(alpha=alpha).is_significant


def test_the_other_way_round_all_signs_change():
    two = two_models(np.random.default_rng(8), 500)
    for name in ("aurc", "risk", "coverage"):
        there, back = POINTS[name](two), POINTS[name](TwoModels(two.b, two.a))
        assert (there.a, there.b) == (back.b, back.a)
        assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_no_order_of_rows_changes_a_difference():
    columns, ids = draw(np.random.default_rng(9), 600, per_cluster=3)
    order = np.random.default_rng(0).permutation(600)
    moved = TwoModels.of(*(column[order] for column in columns), ids=ids[order])
    for point in POINTS.values():
        there, back = point(TwoModels.of(*columns, ids=ids)), point(moved)
        assert (there.difference, there.low, there.high) == pytest.approx((back.difference, back.low, back.high))


@pytest.mark.parametrize("wrong", [False, True], ids=["no errors", "all errors"])
def test_nothing_is_told_where_both_are_always_right_or_always_wrong(wrong):
    rng, errors = np.random.default_rng(0), np.full(60, wrong)
    two = TwoModels.of(rng.random(60), errors, rng.random(60), errors)
    for name, point in POINTS.items():
        all_accepted = name == "coverage at the other's risk"  # which is the same at every coverage
        assert point(two).difference == pytest.approx(0.2 if all_accepted else 0)
        assert not point(two).is_significant


def test_coverage_at_a_risk_is_that_of_the_curve_and_its_interval_holds_it():
    columns, _ = draw(np.random.default_rng(1), 1000)
    for risk in (0.0, 0.02, 0.1, 0.9):
        result = crossing(rank(columns[0], columns[1]), risk)
        assert result.value == coverage_at_risk(columns[0], columns[1], risk=risk)
        assert 0 <= result.low <= result.value <= result.high <= 1


def test_rows_that_can_never_be_accepted_bound_the_coverage():
    confidence = np.append(np.arange(90.0), np.full(10, -np.inf))
    assert crossing(rank(confidence, np.zeros(100)), 0.5).high == 0.9
    assert crossing(rank(np.full(5, -np.inf), np.ones(5)), 0.5).value == 0


def test_models_of_other_samples_and_single_samples_are_refused():
    with pytest.raises(ValueError, match="`losses_b` must have a loss for each sample of `losses_a`, got 3 for 2"):
        TwoModels.of([1, 2], [0, 1], [1, 2, 3], [0, 1, 0])
    with pytest.raises(ValueError, match="at least 2 different samples, got 1"):
        TwoModels.of([1, 2], [0, 1], [1, 2], [0, 1], ids=["x", "x"]).risk(coverage=0.5)
