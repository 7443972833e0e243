"""A guarantee as a value: what is tested depends on its quantity, never on words."""

from dataclasses import replace

import numpy as np
import pytest

from abstain import Outputs, Selector, calibrate, certify
from abstain._io.records import from_json, to_json
from abstain.thresholds import Guarantee, Quantity
from abstain.thresholds.refutation import untestable

RISK = Guarantee(quantity=Quantity.RISK, target=0.02, probability=0.95, distribution="rows")


def rows(n, seed, rate=0.3):
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    return Outputs(confidences={"c": 1 - u}, errors=rng.random(n) < rate * u**2)


def result_of(selector):
    (test,) = certify(selector, rows(3000, 1)).fresh.tests
    return test.event, test.result


@pytest.mark.parametrize("options", [{"risk": 0.06}, {"coverage": 0.7}])
def test_rewording_a_sentence_does_not_change_what_certify_tests(monkeypatch, options):
    selector = calibrate(rows(3000, 0), **options)
    before = result_of(selector)
    for quantity, words in zip(Quantity, [quantity.words for quantity in reversed(Quantity)], strict=True):
        monkeypatch.setattr(quantity, "words", words)
    assert str(selector.threshold.guarantee) != str(RISK)
    assert result_of(selector) == before
    assert before[1].limit == pytest.approx(options.get("risk", 0.3))


def test_the_limit_depends_on_the_quantity():
    assert RISK.limit == 0.02
    assert replace(RISK, quantity=Quantity.COVERAGE, relation="at least").limit == 0.98
    with pytest.raises(ValueError, match="`quantity` must be a risk or a coverage to have a limit, got cost"):
        assert replace(RISK, quantity=Quantity.COST).limit


@pytest.mark.parametrize("quantity", Quantity)
def test_a_quantity_has_words_and_is_stored_by_its_value(quantity):
    stored = to_json(replace(RISK, quantity=quantity))
    assert f'"quantity": "{quantity.value}"' in stored
    assert quantity.words not in stored
    assert from_json(stored, Guarantee).quantity is quantity
    assert quantity.words in str(replace(RISK, quantity=quantity))
    assert (untestable(replace(RISK, quantity=quantity)) == "") == (quantity.event is not None)


def test_a_sentence_is_no_quantity(tmp_path):
    with pytest.raises(ValueError, match="`quantity` must be a Quantity, got 'the share of errors"):
        replace(RISK, quantity="the share of errors among accepted rows")
    with pytest.raises(ValueError, match="'the share' where quantity must be one of risk, coverage, cost"):
        from_json(to_json(RISK).replace('"risk"', '"the share"'), Guarantee)
    calibrate(rows(900, 0), risk=0.1).save(tmp_path / "s.abstain")
    assert Selector.load(tmp_path / "s.abstain").threshold.guarantee.quantity is Quantity.RISK


def test_of_many_groups_some_are_named():
    many = replace(RISK, quantity=Quantity.GROUP_RISK, groups=tuple("abcdefghijklmn"))
    assert many.about.endswith("of each of the groups a, b, c, d, e, f, g, h, i, j, … (14 in all)")
