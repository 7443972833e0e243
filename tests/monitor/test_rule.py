from math import inf, nan

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate
from abstain.monitor.row import Row
from abstain.monitor.rows import StreamRows
from abstain.monitor.rule import Rule
from abstain.monitor.stream import StreamBatch

ONE = Rule(0.5, None, {}, ())
BY_CLASS = Rule(inf, "class", {"0": 0.5, "1": 0.9, "2": inf}, ("cat", "dog", "cow"))
BY_DOMAIN = Rule(inf, "domain", {"here": 0.5}, ())


def verdict(rule, **values):
    accepted = rule.decided(StreamRows.of([Row(**values)])).accepted[0]
    return None if accepted < 0 else bool(accepted)


@pytest.mark.parametrize(
    ("confidence", "expected"), [(0.5, False), (0.500001, True), (nan, False), (inf, True), (-inf, False), (None, None)]
)
def test_a_confidence_above_the_threshold_is_accepted_and_nan_never(confidence, expected):
    assert verdict(ONE, confidence=confidence) is expected


def test_nan_is_rejected_where_every_usable_row_is_accepted():
    assert verdict(Rule(-inf, None, {}, ()), confidence=nan) is False


def test_a_verdict_that_was_given_stays():
    assert verdict(ONE, confidence=0.9, accepted=False) is False


def test_each_group_has_its_threshold_by_number_or_name():
    assert [verdict(BY_CLASS, confidence=0.7, prediction=name) for name in ("0", "1", "2")] == [True, False, False]
    assert [verdict(BY_CLASS, confidence=0.7, prediction=name) for name in ("cat", "dog", "cow")] == [
        True,
        False,
        False,
    ]
    assert [verdict(BY_DOMAIN, confidence=0.7, domain=name) for name in ("here", "new")] == [True, False]


@pytest.mark.parametrize(
    ("rule", "values", "message"),
    [
        (
            BY_CLASS,
            {},
            "`prediction` must name a class if `accepted` is missing, .* got none. Run `abstain select`",
        ),
        (BY_CLASS, {"prediction": "horse"}, "`prediction` must name a class .* got 'horse'"),
        (BY_DOMAIN, {}, "`domain` must name a domain .* got none. Run `abstain select` first"),
        (Rule(inf, "town", {"x": 0.5}, ()), {}, "`town` must name a town .* got none. Run `abstain select` first"),
    ],
)
def test_a_row_of_no_known_group_is_refused(rule, values, message):
    with pytest.raises(ValueError, match=message):
        verdict(rule, confidence=0.7, **values)


def test_the_column_that_the_selector_names_tells_the_group_or_else_group_or_else_domain():
    rule, order = Rule(inf, "town", {"x": 0.5}, ()), ["town", "group", "domain"]
    for k, name in enumerate(order):
        row = {"confidence": "0.7", name: "x"} | dict.fromkeys(order[k + 1 :], "elsewhere")
        for batch in (StreamBatch.of_columns({name: [cell] for name, cell in row.items()}), StreamBatch.of_rows([row])):
            assert batch.read(start=1, rule=rule, group=rule.column).accepted[0] == 1


def test_a_later_label_without_confidence_is_left_as_it_is():
    assert verdict(ONE, error=True, id="a") is None


def test_the_first_row_that_cannot_be_decided_is_named():
    columns = {"confidence": ["0.7", "0.7", "", "0.7"], "error": ["", "", "1", ""], "prediction": ["0", "1", "1", "x"]}
    with pytest.raises(ValueError, match="Row 13: A labelled row must have `confidence` or `accepted`"):
        StreamBatch.of_columns(columns).read(start=11, rule=BY_CLASS)
    with pytest.raises(ValueError, match=r"Row 14: `prediction` must name a class .* got 'x'"):
        StreamBatch.of_columns(columns | {"error": [""] * 4}).read(start=11, rule=BY_CLASS)


def test_the_rule_of_a_selector_per_class_decides_as_the_selector():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=2000)
    logits = rng.normal(size=(2000, 3)) + [2, 3, 4] * np.eye(3)[labels]
    outputs = Outputs(logits=logits, labels=labels, class_names=["cat", "dog", "cow"])
    selector = calibrate(outputs, Risk(0.03, per="class"))
    rule, columns = Rule.of(selector), selector.decide(outputs)
    pairs = zip(columns["confidence"].tolist(), columns["prediction"].astype(str), strict=True)
    judgement = [verdict(rule, confidence=confidence, prediction=str(name)) for confidence, name in pairs]
    np.testing.assert_array_equal(judgement, columns["accepted"])
    assert len(set(rule.values.values())) > 1
