"""Targets as values: the short form, the command line, and the answers that they are about."""

from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

import abstain
from abstain import (
    Cost,
    Coverage,
    JointRisk,
    MissRate,
    Outputs,
    Review,
    Risk,
    RiskAndCoverage,
    RiskAndMissRate,
    Selector,
    calibrate,
)
from abstain.cli.app import app
from abstain.datasets import digits
from abstain.scores import ExpectedCost
from abstain.selector.targets import TARGETS, target_of
from abstain.selector.targets.target import Target
from abstain.thresholds.methods import METHODS

COMMANDS = [
    (Risk(0.1), "--risk 0.1"),
    (Risk(0.1, per="domain", delta=0.1), "--risk 0.1 --per domain --delta 0.1"),
    (Risk(0.1, per="domain", jointly=False), "--risk 0.1 --per domain --each"),
    (Risk(0.1, method="sgr"), "--risk 0.1 --method sgr"),
    (JointRisk(0.1, 0.2, per="domain"), "--risk 0.1 --group-risk 0.2 --per domain"),
    (RiskAndCoverage(0.2, 0.3), "--risk 0.2 --coverage 0.3"),
    (Review(0.4, delta=0.1), "--review 0.4 --delta 0.1"),
    (Coverage(0.6, delta=0.2), "--coverage 0.6 --delta 0.2"),
    (Cost(0.2), "--cost 0.2"),
    (MissRate({"b": 0.1}), "--miss-rate b=0.1"),
    (RiskAndMissRate(0.2, {"b": 0.1, "a": 0.3}), "--risk 0.2 --miss-rate b=0.1 --miss-rate a=0.3"),
]
EXAMPLES = [target for target, _ in COMMANDS]


@pytest.fixture(scope="module")
def outputs():
    rng = np.random.default_rng(0)
    y, domain = (rng.random(2000) < 0.3).astype(int), np.where(rng.random(2000) < 0.5, "a", "b")
    odds = rng.normal(3 * y - 1.5, 1.5)
    return Outputs(logits=np.column_stack([0 * odds, odds]), labels=y, class_names=("a", "b"), domain=domain)


def short(target):
    return {field.name: getattr(target, field.name) for field in fields(target)}


def test_every_target_has_an_example():
    assert {type(target) for target in EXAMPLES} == set(TARGETS)


@pytest.mark.parametrize("kind", TARGETS)
def test_a_target_is_final_and_overrides_nothing_final(kind):
    final = {name for name, value in vars(Target).items() if getattr(value, "__final__", False)}
    assert final == {"__post_init__", "by_rule"}
    assert kind.__final__
    assert not final & set(vars(kind))


@pytest.mark.parametrize("kind", TARGETS)
def test_every_target_is_exported(kind):
    assert getattr(abstain, kind.__name__) is getattr(abstain.selector, kind.__name__) is kind
    assert kind.__name__ in abstain.__all__
    assert kind.__name__ in dir(abstain)
    assert kind.__name__ in abstain.selector.__all__


@pytest.mark.parametrize("target", EXAMPLES, ids=repr)
def test_a_target_is_its_repr_and_its_options(target):
    assert repr(eval(repr(target))) == repr(target)
    assert repr(target_of(**short(target))) == repr(target)
    assert set(target.methods) <= set(METHODS)


@pytest.mark.parametrize(("target", "command"), COMMANDS, ids=repr)
def test_the_command_line_makes_the_same_selector(target, command, outputs, tmp_path):
    outputs.save(tmp_path / "run")
    arguments = ["calibrate", str(tmp_path / "run"), "-o", str(tmp_path / "s.abstain"), *command.split()]
    with pytest.raises(SystemExit) as done:
        app(arguments)
    assert done.value.code == 0
    ours, theirs = calibrate(outputs, target), Selector.load(tmp_path / "s.abstain")
    assert theirs.threshold == ours.threshold


@pytest.mark.parametrize("target", EXAMPLES, ids=repr)
def test_a_target_brings_its_own_guarantee(target, outputs):
    guarantee = calibrate(outputs, target).threshold.guarantee
    assert guarantee.quantity.value in type(target).keys
    assert guarantee.probability == 1 - target.delta
    with pytest.raises(FrozenInstanceError):
        target.delta = 0.5


RULES = [Risk(0.1, method=name) for name in Risk(0.1).methods]


@pytest.mark.parametrize("target", [*EXAMPLES, *RULES, Risk(0.2, label_above=2.5)], ids=repr)
def test_a_threshold_counts_the_rows_that_its_selector_accepts(target, outputs):
    selector = calibrate(outputs, target)
    threshold, accepted = selector.threshold, np.count_nonzero(selector.accepts(outputs))
    assert accepted
    if threshold.n == len(outputs):
        assert threshold.accepted == accepted
    else:  # some rows proposed the thresholds
        assert threshold.accepted < accepted
        assert threshold.accepted / threshold.n == pytest.approx(accepted / len(outputs), abs=0.03)


def test_a_guarantee_in_expectation_is_in_the_repr():
    assert repr(Coverage(0.6, delta=None)) == "Coverage(0.6, delta=None)"


def test_the_short_form_is_the_target(outputs):
    for options, target in (({"risk": 0.1}, Risk(0.1)), ({"coverage": 0.6, "delta": None}, Coverage(0.6, delta=None))):
        assert calibrate(outputs, **options).digest == calibrate(outputs, target).digest


def test_a_target_and_the_short_form_together_are_refused(outputs):
    with pytest.raises(ValueError, match="`risk` must be left out with a target, got both"):
        calibrate(outputs, Coverage(0.5), risk=0.1)
    with pytest.raises(ValueError, match=r"`target` must be a target such as Risk\(0.02\), got 0.1"):
        calibrate(outputs, 0.1)


def test_a_target_risk_is_about_the_answers_of_a_score_that_changes_them():
    """On the errors of the classifier itself 18% of what is accepted would be wrong."""
    outputs = digits()
    costs = 1 - np.eye(outputs.n_classes)
    costs[0, 1:] = 0.2  # so that the first class is a cheap answer
    first, second = outputs.split(0.5, seed=0)
    selector = calibrate(first, score=ExpectedCost(rejection=0.3, costs=costs), risk=0.15, delta=0.05)
    accepted = selector.accepts(second)
    assert (selector.predictions(second)[accepted] != second.predictions[accepted]).any()
    assert 0 < selector.errors(second)[accepted].mean() < 0.15


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: target_of(Risk(0.1), delta=0.001), "`delta` must be left out with a target"),
        (lambda: target_of(Coverage(0.5), delta=None), "`delta` must be left out with a target"),
        (lambda: Cost(np.inf), "`cost` must be at least 0 and finite"),
        (lambda: Risk(0.1, label_above="high"), "`label_above` must be a number"),
        (lambda: calibrate(digits()[:500], miss_rate={"1": 0.5, 1: 0.9}), "must name each class once"),
    ],
)
def test_what_would_weaken_a_guarantee_in_silence_is_refused(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message):
        wrong()
