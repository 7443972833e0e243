"""Labels above a floor alone, from unlabelled outputs to the decisions of the selector: what is kept, what is saved.

The seed of the rule is fixed and the data are new in each run. Rows at or below the floor have labels that are always
right, which is what a careless user would write for "no label".
"""

from dataclasses import replace
from functools import cache
from math import sqrt

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate, evaluate
from abstain.monitor import DeploymentMonitor
from abstain.thresholds import label_floor, samples_for

RISK, DELTA, SHARE = 0.05, 0.1, 0.6
GRID = (np.arange(100_000) + 0.5) / 100_000
RATES = {  # of error at coverage u, from 0, the most trusted, to 1
    "rising": lambda u: 0.005 + 0.45 * u**2,
    "steep below the floor": lambda u: np.where(u < 0.6, 0.01, 0.8),
    "just above the target": lambda u: np.full_like(u, RISK + 1e-3),
    "crossing at the floor": lambda u: np.where(u < 0.5, 0.035, 0.127),
    "bad just above the floor": lambda u: np.where(u < 0.45, 0.001, np.where(u < 0.6, 0.21, 0.3)),
    "confident errors": lambda u: np.where(u < 0.02, 0.4, np.where(u < 0.5, 0.037, 0.08)),
}
TRUE_RISK = {name: np.cumsum(rate(GRID)) / np.arange(1, len(GRID) + 1) for name, rate in RATES.items()}


def as_documented(confidence, wrong, others):
    """The floor is fixed before the labels, by these rows or by others, and given to the rule."""
    floor = label_floor(confidence if others is None else others, share=SHARE)
    return selector(confidence, wrong & (confidence > floor), floor)


def careless(confidence, wrong, others):
    """Rows without a label are taken for right."""
    floor = label_floor(confidence if others is None else others, share=SHARE)
    return selector(confidence, wrong & (confidence > floor), None)


def selector(confidence, wrong, floor):
    outputs = Outputs(confidences={"vendor": confidence}, errors=wrong)
    return calibrate(outputs, Risk(RISK, delta=DELTA, label_above=floor, when_impossible="reject_all"))


def shares(rule, name, n, *, runs, levels=None, elsewhere=False, seed=0):
    """How often the selector's true risk is above the target, and how often it accepts anything."""
    broken = accepting = 0
    for run in range(runs):
        rng = np.random.default_rng([run, n, seed])
        u, other = rng.random(n), 1 - rng.random(500)
        wrong = rng.random(n) < RATES[name](u)
        confidence = 1 - (np.floor(u * levels) / levels if levels else u)
        result = rule(confidence, wrong, other if elsewhere else None).accepts(everything(levels))
        accepting += bool(result.any())
        broken += bool(result.any() and TRUE_RISK[name][np.count_nonzero(result) * 10 - 1] > RISK)
    return broken / runs, accepting / runs


@cache
def everything(levels):
    """Rows in the middle of each ten-thousandth of coverage."""
    u = GRID.reshape(-1, 10).mean(1)
    return Outputs(confidences={"vendor": 1 - (np.floor(u * levels) / levels if levels else u)})


def most(runs):
    return DELTA + 3 * sqrt(DELTA * (1 - DELTA) / runs)


@pytest.mark.parametrize("name", RATES)
def test_the_risk_is_kept_from_the_floor_to_the_decisions(name):
    assert shares(as_documented, name, 600, runs=60)[0] <= most(60)


def test_rows_without_a_label_do_not_make_up_for_errors_above_the_floor():
    """With these rows right, the risk of all is below the target, and so is that of the deepest ranks."""
    assert shares(as_documented, "bad just above the floor", 8000, runs=30)[0] <= most(30)


def test_it_is_not_kept_by_refusing_everything():
    assert shares(as_documented, "rising", 600, runs=30)[1] > 0.5


def test_rows_without_a_label_taken_for_right_break_it():
    assert shares(careless, "steep below the floor", 600, runs=30)[0] > 0.5


SAMPLES = pytest.mark.parametrize(("levels", "elsewhere"), [(None, False), (None, True), (20, False)])


@pytest.mark.thorough
@SAMPLES
@pytest.mark.parametrize("n", [150, 600, 3000])
@pytest.mark.parametrize("name", RATES)
def test_the_risk_is_kept_for_every_size_with_ties_and_with_floors_of_other_rows(name, n, levels, elsewhere):
    broken, _ = shares(as_documented, name, n, runs=400, levels=levels, elsewhere=elsewhere, seed=1)
    assert broken <= most(400)


@pytest.mark.thorough
@SAMPLES
@pytest.mark.parametrize(
    ("name", "n"),
    [
        *(("steep below the floor", n) for n in (150, 600, 3000)),
        ("crossing at the floor", 3000),
        ("bad just above the floor", 3000),
    ],
)
def test_rows_without_a_label_taken_for_right_break_it_with_ties_and_with_floors_of_other_rows(
    name, n, levels, elsewhere
):
    broken, _ = shares(careless, name, n, runs=200, levels=levels, elsewhere=elsewhere, seed=1)
    assert broken > most(200)


def test_the_share_accepted_is_that_above_the_floor_even_if_more_could_be_certified():
    """Otherwise the monitor would take the share accepted for a change."""
    u = np.random.default_rng(0).random(4000)
    wrong = np.random.default_rng(1).random(4000) < np.where(u < 0.7, 0.005, 0.3)
    outputs = Outputs(confidences={"vendor": 1 - u}, errors=wrong)
    result = calibrate(outputs, Risk(0.1, label_above=0.5))
    accepted = result.accepts(outputs)
    assert (result.threshold.accepted, result.threshold.errors) == (accepted.sum(), wrong[accepted].sum())
    fresh = Outputs(confidences={"vendor": np.random.default_rng(2).random(20_000)})
    monitor = DeploymentMonitor.of(result).observe_accepted(result.accepts(fresh))
    assert monitor.alarms == ()


@pytest.mark.parametrize("kind", ["errors", "losses"])
def test_rows_at_or_below_the_floor_need_no_outcome(kind):
    u = np.random.default_rng(0).random(2000)
    outcomes = (np.random.default_rng(1).random(2000) < 0.3 * u**2) * (1.0 if kind == "errors" else 0.7)
    some = np.where(u < 0.7, outcomes, np.nan)
    every = Outputs(confidences={"vendor": 1 - u}, **{kind: outcomes})
    part = Outputs(confidences={"vendor": 1 - u}, **{kind: some}, unlabelled="keep")
    asked = Risk(RISK, label_above=1 - u[u < 0.7].max() - 1e-9)
    ours, theirs = calibrate(part, asked), calibrate(every, asked)
    assert (ours.threshold, ours.calibration.domains) == (theirs.threshold, theirs.calibration.domains)
    with pytest.raises(ValueError, match=r"must have the outcome of every row above the floor, got none in \d+ of \d+"):
        calibrate(part, replace(asked, label_above=0.2))


@pytest.mark.parametrize("kind", ["errors", "losses"])
def test_rows_without_an_outcome_are_taken_nowhere_else(kind, tmp_path):
    c = np.linspace(1, 0, 50)
    missing = {"confidences": {"vendor": c}, kind: np.where(c > 0.5, 0.0, np.nan)}
    with pytest.raises(ValueError, match=f"`{kind}` must be"):
        Outputs(**missing)
    part = Outputs(**missing, unlabelled="keep")
    part.save(tmp_path / "run")
    for use in (evaluate, lambda rows: calibrate(rows, risk=0.2)):
        with pytest.raises(ValueError, match="must have the outcome of every row, got none in 25 of 50 rows"):
            use(part)
    with pytest.raises(ValueError, match=f"`{kind}` must be"):
        Outputs.load(tmp_path / "run")
    assert part[part.confidence("vendor") > 0.5].losses.sum() == 0
    assert Outputs.load(tmp_path / "run", unlabelled="keep").select(range(20)).losses.sum() == 0


def coverages(n, *, runs):
    """Certified coverage at a risk of 0.01, 0.56 of it achievable: all n labels, the floor's, as many anywhere."""
    coverage = []
    for run in range(runs):
        rng = np.random.default_rng([run, 7])
        u = rng.random(n)
        wrong, confidence = rng.random(n) < np.where(u < 0.55, 0.005, 0.3), 1 - u
        floor, labelled = label_floor(confidence, share=SHARE), round(SHARE * n)
        assert np.count_nonzero(confidence > floor) == labelled
        whole = Outputs(confidences={"vendor": confidence}, errors=wrong)
        part = Outputs(confidences={"vendor": confidence}, errors=wrong & (confidence > floor))
        few = Outputs(confidences={"vendor": confidence[:labelled]}, errors=wrong[:labelled])
        asked = Risk(0.01, delta=DELTA, when_impossible="reject_all")
        rules = (
            calibrate(whole, asked),
            calibrate(part, replace(asked, label_above=floor)),
            calibrate(few, asked),
        )
        coverage.append([1 - max(0.0, min(1.0, rule.threshold.value)) for rule in rules])
    return np.array(coverage)


def planned(rate, *, coverage, error_rate, rising, runs):
    """How often the labels planned certify the coverage, and how often that breaks; their number, and that of rows."""
    known = {"risk": RISK, "delta": DELTA, "coverage": coverage, "error_rate": error_rate, "rising": rising}
    labels, n = samples_for(label_share=SHARE, **known), samples_for(**known)
    rows, reached, broken = round(labels / SHARE), 0, 0
    true_risk = np.cumsum(rate(GRID)) / np.arange(1, len(GRID) + 1)
    for run in range(runs):
        rng = np.random.default_rng([run, 11])
        u = rng.random(rows)
        result = as_documented(1 - u, rng.random(rows) < rate(u), None)
        accepted = np.count_nonzero(result.accepts(everything(None))) * 10
        reached += result.threshold.accepted >= coverage * rows
        broken += bool(accepted and true_risk[accepted - 1] > RISK)
    return reached / runs, broken / runs, labels, n


@pytest.mark.parametrize("rising", [False, True])
def test_the_labels_planned_certify_the_coverage_as_often_as_planned(rising):
    rate = (lambda u: 0.06 * (u / 0.5) ** 2) if rising else (lambda u: np.where(u < 0.55, 0.02, 1.0))
    reached, broken, labels, n = planned(rate, coverage=0.5, error_rate=0.02, rising=rising, runs=60)
    assert reached >= 0.9 - 3 * sqrt(0.09 / 60)
    assert broken <= most(60)
    assert labels <= 0.65 * n


def test_half_of_the_labels_planned_are_too_few():
    """So the plan is not met by any number of labels."""
    rate, plan = (
        (lambda u: np.where(u < 0.55, 0.02, 1.0)),
        samples_for(risk=RISK, delta=DELTA, coverage=0.5, error_rate=0.02, label_share=SHARE),
    )
    reached, rows = 0, round(plan / SHARE / 2)
    for run in range(60):
        rng = np.random.default_rng([run, 12])
        u = rng.random(rows)
        reached += as_documented(1 - u, rng.random(rows) < rate(u), None).threshold.accepted >= 0.5 * rows
    assert reached / 60 < 0.8


def test_four_tenths_of_the_labels_are_saved():
    """Nearly the same is certified as with all labels, and more than with as many labels of any rows."""
    every, above, anywhere = coverages(3000, runs=30).T
    assert (every == above).mean() >= 0.9
    assert above.mean() > anywhere.mean() + 0.02
