"""The guarantee of a cascade, simulated: the rule's seed is fixed, the data are new, the stages depend strongly."""

from math import sqrt

import numpy as np
import pytest
from scipy.special import bdtr

from abstain.selector.cascades.cheapest_routing import RoutingPlan, cheapest_routing
from abstain.thresholds import NoSafeThresholdError, step_down

RISK, DELTA, N, PILOT, TRIALS = 0.05, 0.1, 700, 70, 50
PLAN = RoutingPlan(risk=RISK, delta=DELTA, ratio=(N - PILOT) / PILOT, costs=(1.0, 20.0), human_cost=200.0)
MOST = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / TRIALS)


@pytest.fixture(scope="module")
def population(draw_pair):
    return draw_pair(np.random.default_rng(2**30), 10_000)


def own_answers(sample, routing):
    """Log-odds and error of each row's own stage."""
    confidence, errors = sample
    return routing.confidence(confidence), errors[np.arange(len(errors)), routing.stages(confidence)]


def certified_risk(sample, population, *, pilot):
    """The true risk of the cascade, and whether it answers anything; the first rows choose the routing."""
    confidence, errors = sample
    routing = cheapest_routing(confidence[:pilot], errors[:pilot].astype(float), PLAN)
    odds, wrong = own_answers((confidence[pilot:], errors[pilot:]), routing)
    try:
        value = step_down(odds, wrong, risk=RISK, delta=DELTA).value
    except NoSafeThresholdError:
        return 0.0, False
    odds, wrong = own_answers(population, routing)
    return float(wrong[odds > value].mean()), True


def answered(sample, thresholds):
    """Which rows are answered by a vector of two thresholds, and whether wrongly."""
    confidence, errors = sample
    first = confidence[:, 0] > thresholds[0]
    return first | (confidence[:, 1] > thresholds[1]), np.where(first, errors[:, 0], errors[:, 1])


def risk_of(population, thresholds):
    accepted, wrong = answered(population, thresholds)
    return float(wrong[accepted].mean()) if accepted.any() else 0.0


def tuned_on_the_rows_that_certify(sample):
    """The vector that answers most among those that pass an exact test on the same rows."""
    confidence, errors = sample
    grid = np.quantile(confidence, np.linspace(0, 0.98, 25), axis=0)
    first, last = (confidence[:, stage] > grid[:, stage, None] for stage in (0, 1))
    either = first[:, None] | last[None]
    wrong = np.where(first[:, None], errors[:, 0], errors[:, 1]) & either
    n = either.sum(axis=2)
    passes = bdtr(wrong.sum(axis=2), np.maximum(n, 1), RISK) <= DELTA
    best = np.unravel_index(np.argmax(np.where(passes, n, 0)), n.shape)
    return (grid[best[0], 0], grid[best[1], 1]) if passes.any() else (np.inf, np.inf)


def each_stage_by_itself(sample):
    """The thresholds that are certified for each model alone, at half of δ each."""
    confidence, errors = sample
    values = []
    for stage in (0, 1):
        try:
            values.append(step_down(confidence[:, stage], errors[:, stage], risk=RISK, delta=DELTA / 2).value)
        except NoSafeThresholdError:
            values.append(np.inf)
    return tuple(values)


def draw_flat(rng, n):
    """Confidences that say nothing, and models that are wrong together, slightly too often: nothing is safe."""
    wrong = rng.random(n) < 1.02 * RISK
    other = np.where(rng.random(n) < 0.9, wrong, rng.random(n) < 1.02 * RISK)
    return rng.random((n, 2)), np.column_stack([wrong, other])


def test_all_answered_rows_together_keep_the_risk(draw_pair, population):
    samples = (draw_pair(np.random.default_rng(seed), N) for seed in range(TRIALS))
    risks = [certified_risk(sample, population, pilot=PILOT) for sample in samples]
    assert np.mean([answers for _, answers in risks]) > 0.5
    assert np.mean([risk > RISK for risk, _ in risks]) <= MOST


def test_nothing_is_certified_too_often_where_nothing_is_safe():
    population = draw_flat(np.random.default_rng(2**30), 1000)
    samples = (draw_flat(np.random.default_rng(seed), N) for seed in range(TRIALS))
    assert np.mean([certified_risk(sample, population, pilot=PILOT)[1] for sample in samples]) <= MOST


def test_thresholds_tuned_on_the_rows_that_certify_break_it():
    tuned = [tuned_on_the_rows_that_certify(draw_flat(np.random.default_rng(seed), N)) for seed in range(TRIALS)]
    assert np.mean([min(thresholds) < np.inf for thresholds in tuned]) > MOST


def test_stages_calibrated_one_by_one_break_it(draw_pair, population):
    samples = (draw_pair(np.random.default_rng(seed), 2000) for seed in range(TRIALS))
    assert np.mean([risk_of(population, each_stage_by_itself(sample)) > RISK for sample in samples]) > MOST
