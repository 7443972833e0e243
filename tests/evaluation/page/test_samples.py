import re

import numpy as np
import pytest

from abstain import Outputs, calibrate, evaluate
from abstain.evaluation.operating_point import point_of_risk, point_of_selector
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.samples import samples


@pytest.fixture(scope="module")
def outputs():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=500)
    return Outputs(logits=rng.normal(size=(500, 3)) + 2 * np.eye(3)[labels], labels=labels)


def confidences_of_rows(section):
    """Row number and confidence of every sample shown."""
    cells = re.findall(r"<bdi>row (\d+)</bdi></th><td class=\"number\"[^>]*>([^<]*)<", section.html)
    return [(int(row), float(value.replace("−", "-"))) for row, value in cells]


@pytest.mark.parametrize("fitting", ["fifth", "paper"])
def test_a_row_without_an_id_is_the_row_of_the_outputs_given(outputs, fitting):
    evaluation = evaluate(outputs, scores=["max_softmax", "ts_max_softmax"], fitting=fitting)
    assert evaluation.n < 500
    point = point_of_risk(evaluation, risk=0.1, delta=0.05)
    given = evaluation.entries["max_softmax"].fit()(outputs)
    shown = confidences_of_rows(samples(PageContext(evaluation, point, 0.05)))
    assert point.score == "max_softmax"
    assert len(shown) == 40
    for row, value in shown:
        assert value == float(f"{given[row]:.6g}")


def test_a_selector_is_shown_on_every_row(outputs):
    selector = calibrate(outputs, score="max_softmax", risk=0.1)
    evaluation = evaluate(outputs, scores=["max_softmax", "ts_max_softmax"])
    point = point_of_selector(evaluation, selector)
    np.testing.assert_array_equal(point.accepted, selector.accepts(outputs))
    for row, value in confidences_of_rows(samples(PageContext(evaluation, point, 0.05))):
        assert value == float(f"{selector.confidence(outputs)[row]:.6g}")


def test_places_are_where_the_rows_evaluated_were(outputs):
    evaluation = evaluate(outputs, scores=["ts_max_softmax"])
    np.testing.assert_array_equal(evaluation.outputs.labels, outputs.labels[evaluation.indices])
    assert evaluate(outputs, scores=["max_softmax"]).indices is None


def test_no_row_is_said_to_be_accepted_where_nothing_can_be_guaranteed(outputs):
    evaluation = evaluate(outputs, scores=["max_softmax"])
    point = point_of_risk(evaluation, risk=1e-6, delta=0.05)
    html = samples(PageContext(evaluation, point, 0.05)).html
    assert not point.is_decided
    assert "Nothing is decided: there is no threshold" in html
    assert "<td>–</td>" in html
    assert "<td>yes</td>" not in html
