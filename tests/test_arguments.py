from datetime import date

import numpy as np
import pytest

import abstain
from abstain import Cost, Outputs, Selector, calibrate, evaluate, metrics, scale_sensitivity, scores, thresholds
from abstain.monitor import ScoreMonitor

RNG = np.random.default_rng(0)
LABELS = RNG.integers(3, size=200)
Z = RNG.normal(size=(200, 3)) + 3 * np.eye(3)[LABELS]
OUTPUTS = Outputs(logits=Z, labels=LABELS)
C = scores.confidence_margin(Z)
DATES = np.array(["2024-01-01"] * 200, dtype="datetime64[D]")
NO_OUTPUTS = "must be Outputs, got ndarray. Make them with abstain.Outputs"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: calibrate(Z, risk=0.1), f"`outputs` {NO_OUTPUTS}"),
        (lambda: evaluate(Z), f"`outputs` {NO_OUTPUTS}"),
        (lambda: evaluate(OUTPUTS, fitting=Z), f"`fitting` {NO_OUTPUTS}"),
        (lambda: scale_sensitivity(Z), f"`outputs` {NO_OUTPUTS}"),
        (lambda: scores.KNN().fit(Z), f"`sample` {NO_OUTPUTS}"),
        (lambda: calibrate(OUTPUTS, risk=0.3).accepts(Z), f"`outputs` {NO_OUTPUTS}"),
        (lambda: Outputs.concat([Z]), "`parts` must hold Outputs"),
        (lambda: Outputs(logits=Z[:2], ids=[1, "1"]), "`ids` must be all strings or all numbers, got both"),
        (lambda: metrics.compare(C[:2], C[:2], [0, 1], ids=[1, "1"]), "`ids` must be all strings or all numbers"),
        (lambda: calibrate(OUTPUTS, risk="0.02"), "`risk` must be a number, got '0.02'"),
        (lambda: calibrate(OUTPUTS, risk=0.1, delta=[0.1]), r"`delta` must be a number, got \[0.1\]"),
        (lambda: calibrate(OUTPUTS, coverage="0.5"), "`coverage` must be a number"),
        (lambda: calibrate(OUTPUTS, cost="0.5"), "`cost` must be a number, or one for each class, got '0.5'"),
        (lambda: calibrate(OUTPUTS, Cost(0.5, costs="x")), "`costs` must be numbers"),
        (
            lambda: calibrate(OUTPUTS, risk=0.1, score=3),
            "`score` must be a name, a score or a function of outputs, got int",
        ),
        (lambda: evaluate(OUTPUTS, scores=[lambda _: DATES]), r"`<lambda>` must be numbers, got datetime64\[D\]"),
        (lambda: calibrate(OUTPUTS, risk=0.1, score=lambda _: DATES), "`<lambda>` must be numbers, got datetime64"),
        (lambda: evaluate(OUTPUTS, scores=[lambda _: ["0.5"] * 200]), "`<lambda>` must be numbers, got <U3"),
        (lambda: evaluate(OUTPUTS, scores=[lambda _: [date(2024, 1, 1)] * 200]), "must be numbers, got Python objects"),
        (lambda: ScoreMonitor.from_calibration(DATES), "`confidence` must be numbers, got datetime64"),
        (lambda: evaluate(OUTPUTS, alphas=0.1), "`alphas` must be a list of coverages, got 0.1"),
        (lambda: evaluate(OUTPUTS, alphas=["a"]), "`alpha` must be a number, got 'a'"),
        (lambda: evaluate(OUTPUTS, level="0.9"), "`level` must be a number"),
        (lambda: evaluate(OUTPUTS, scores=3), "`score` must be a name, a score or a function of outputs, got int"),
        (lambda: metrics.aurc(C, OUTPUTS.errors, alpha="1"), "`alpha` must be a number"),
        (lambda: metrics.coverage_at_risk(C, OUTPUTS.errors, risk="a"), "`risk` must be a number"),
        (lambda: thresholds.risk_for(n="3", delta=0.1, coverage=0.1, error_rate=0), "`n` must be a number"),
        (lambda: OUTPUTS.split("a"), "`fraction` must be a number"),
        (lambda: Outputs.load(3), "`path` must be a path or a string, got 3"),
        (lambda: OUTPUTS.save(None), "`folder` must be a path or a string, got None"),
        (lambda: Selector.load(b"x"), "`file` must be a path or a string"),
        (lambda: Outputs(logits=Z, class_names=3), "`class_names` must be a list of names, got 3"),
    ],
)
def test_another_kind_of_thing_is_a_type_error_of_one_line(call, message):
    with pytest.raises(TypeError, match=message) as info:
        call()
    assert "\n" not in str(info.value)


def test_rows_of_several_lengths_are_named():
    for call in (lambda: Outputs(logits=[[1.0, 2.0], [3.0]]), lambda: abstain.scores.energy([[1.0, 2.0], [3.0]])):
        with pytest.raises(ValueError, match="`logits` must have rows of one length, got several"):
            call()


def test_a_tiny_risk_is_refused_and_not_divided_by():
    with pytest.raises(ValueError, match="`risk` must be one that 100,000,000 accepted rows certify, got 1e-300"):
        thresholds.samples_for(risk=1e-300, delta=0.05, coverage=0.5, error_rate=0.0)
