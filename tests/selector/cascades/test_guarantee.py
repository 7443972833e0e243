"""The guarantee of a cascade, simulated: the rule's seed is fixed, the data are new, the stages depend strongly."""

from math import sqrt

import numpy as np
import pytest
from scipy.special import bdtr

import abstain
from abstain import JointRisk, Outputs, Risk
from abstain.selector.cascades import cheapest_routing
from abstain.thresholds import NoSafeThresholdError, step_down

RISK, STAGE_RISK, DELTA, N, TRIALS = 0.05, 0.07, 0.1, 700, 150
MOST = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / TRIALS)  # 0.173, and 0.120 of 2,000 in benchmarks/cascade_guarantees.py


def draw_flat(rng, n):
    """Confidences that say nothing, and models that are wrong together, slightly too often: nothing is safe."""
    wrong = rng.random(n) < 1.02 * RISK
    other = np.where(rng.random(n) < 0.9, wrong, rng.random(n) < 1.02 * RISK)
    return rng.random((n, 2)), np.column_stack([wrong, other])


def in_clusters(draw):
    """Of each sample one row or, by chance, eight copies."""

    def drawn(rng, n):
        confidence, errors = draw(rng, n)
        return confidence, errors, np.where(rng.random(n) < 0.3, 8, 1)

    return drawn


@pytest.fixture(scope="module")
def outputs_of(as_outputs):
    """The outputs of both models on rows or clusters."""

    def made(confidence, errors, sizes=None):
        if sizes is None:
            return as_outputs(confidence, errors)
        ids = np.repeat(np.arange(len(sizes)), sizes)
        return as_outputs(confidence[ids], errors[ids], [f"row-{number}" for number in ids])

    return made


def breaks(made, population, *, by_stage):
    """Whether a true risk of a cascade is above its target: of all answers, or of those of a stage."""
    combined = made.combined(population)
    accepted, wrong, stage = made.selector.accepts(combined), combined.errors, made.numbers_of(combined)
    each = [accepted & (stage == number) for number in (0, 1)] if by_stage is not None else []
    limits = [(accepted, RISK), *((rows, by_stage) for rows in each)]
    return any(rows.any() and wrong[rows].mean() > limit for rows, limit in limits)


KNOWN = {"delta": DELTA, "when_impossible": "reject_all"}
CASES = {
    "all answers together": (Risk(RISK, **KNOWN), None, False),
    "and those of each stage": (JointRisk(RISK, STAGE_RISK, per="domain", **KNOWN), STAGE_RISK, False),
    "a threshold for each stage": (Risk(RISK, per="domain", **KNOWN), RISK, False),
    "rows in clusters": (Risk(RISK, **KNOWN), None, True),
}

LONGER = ("and those of each stage", "rows in clusters")
SHORTER = tuple(case for case in CASES if case not in LONGER)


@pytest.fixture(autouse=True)
def few_trials(monkeypatch):
    """Of thresholds between stages: the guarantee holds for any routing, and this one is chosen sooner."""
    monkeypatch.setattr(cheapest_routing, "POINTS", 6)


def simulated(target, draw, outputs_of, n, trials=TRIALS):
    """A cascade for each trial."""
    return [
        abstain.cascade(outputs_of(*draw(np.random.default_rng(seed), n)), target, costs=[1, 20], human_cost=200)
        for seed in range(trials)
    ]


def answers(made):
    """Whether any row would be answered."""
    return made.selector.threshold.accepted > 0


@pytest.mark.parametrize("case", CASES)
def test_a_cascade_keeps_its_guarantee(case, draw_pair, outputs_of):
    target, by_stage, clustered = CASES[case]
    draw = in_clusters(draw_pair) if clustered else draw_pair
    population = outputs_of(*draw(np.random.default_rng(2**30), 10_000))
    made = simulated(target, draw, outputs_of, 2 * N)
    assert np.mean([answers(each) for each in made]) > 0.5  # not kept by answering nothing
    assert np.mean([breaks(each, population, by_stage=by_stage) for each in made]) <= MOST


@pytest.mark.parametrize("case", [*SHORTER, *(pytest.param(case, marks=pytest.mark.thorough) for case in LONGER)])
def test_nothing_is_certified_too_often_where_nothing_is_safe(case, outputs_of):
    target, _, clustered = CASES[case]
    draw = in_clusters(draw_flat) if clustered else draw_flat
    assert np.mean([answers(each) for each in simulated(target, draw, outputs_of, N)]) <= MOST


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


def test_thresholds_tuned_on_the_rows_that_certify_break_it():
    tuned = [tuned_on_the_rows_that_certify(draw_flat(np.random.default_rng(seed), N)) for seed in range(TRIALS)]
    assert np.mean([min(thresholds) < np.inf for thresholds in tuned]) > 2 * MOST


def each_stage_by_itself(confidence, errors):
    """The thresholds that are certified for each model alone, at half of δ each."""
    values = []
    for stage in (0, 1):
        try:
            values.append(step_down(confidence[:, stage], errors[:, stage], risk=RISK, delta=DELTA / 2).value)
        except NoSafeThresholdError:
            values.append(np.inf)
    return values


def test_stages_calibrated_one_by_one_break_it(draw_pair):
    confidence, errors = draw_pair(np.random.default_rng(2**30), 10_000)
    broken = 0
    for seed in range(TRIALS):
        small, large = each_stage_by_itself(*draw_pair(np.random.default_rng(seed), 2000))
        first = confidence[:, 0] > small
        answered = first | (confidence[:, 1] > large)
        broken += answered.any() and np.where(first, errors[:, 0], errors[:, 1])[answered].mean() > RISK
    assert broken / TRIALS > 4 * MOST


def test_copies_that_pass_for_rows_of_their_own_break_it(outputs_of):
    def without_ids(*rows):
        return [Outputs(logits=each.logits, labels=each.labels) for each in outputs_of(*rows)]

    made = simulated(Risk(RISK, **KNOWN), in_clusters(draw_flat), without_ids, N, trials=40)
    assert np.mean([answers(each) for each in made]) > MOST


def draw_graded(rng, n):
    """Confidences that say nothing, and losses of both models, of the same rows and slightly too large."""
    lost = (rng.random(n) < 2.04 * RISK)[:, None] * rng.random((n, 2))
    return [Outputs(confidences={"own": rng.random(n)}, losses=lost[:, stage]) for stage in (0, 1)]


def test_a_mean_loss_is_certified_no_more_often_where_nothing_is_safe():
    samples = [draw_graded(np.random.default_rng(seed), N) for seed in range(TRIALS)]
    made = [abstain.cascade(rows, Risk(RISK, **KNOWN), costs=[1, 20], human_cost=200) for rows in samples]
    assert np.mean([answers(each) for each in made]) <= MOST
    naive = [np.cumsum(rows[1].losses)[N // 3 :] <= RISK * np.arange(N // 3 + 1, N + 1) for rows in samples]
    assert np.mean([each.any() for each in naive]) > 2 * MOST
