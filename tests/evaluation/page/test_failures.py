import numpy as np
import pytest
from scipy.stats import binomtest

from abstain import Outputs, evaluate
from abstain.evaluation.operating_point import point_of_risk
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.failures import RowPart, _p_above, failures


def case_of(copies=1, *, n=2000, clustered=True):
    rng = np.random.default_rng(0)
    bad = rng.random(n) < 0.1
    wrong = rng.random(n) < np.where(bad, 0.4, 0.02)
    each = np.repeat(np.arange(n), copies)
    outputs = Outputs(
        confidences={"a": rng.random(n)[each]},
        errors=wrong[each],
        domain=np.where(bad, "bad", "rest")[each],
        ids=each if clustered else None,
    )
    evaluation = evaluate(outputs)
    return PageContext(evaluation, point_of_risk(evaluation, risk=0.12, delta=0.05), 0.05)


def part_of(rows):
    return RowPart("Domain", "bad", rows, 0, 0)


def test_the_test_of_independent_rows_is_exact():
    case = case_of()
    rows = np.flatnonzero(case.evaluation.outputs.domain == "bad")
    wrong = case.point.errors[rows][case.point.accepted[rows]]
    expected = binomtest(int(wrong.sum()), len(wrong), 0.12, alternative="greater").pvalue
    assert _p_above(case, [part_of(rows)], 0.12) == pytest.approx([expected])


def test_copies_are_no_further_evidence():
    once, taken_for_rows = (case_of(3, n=100, clustered=each) for each in (True, False))
    [once], [as_rows] = (_p_above(case, [part_of(np.arange(300))], 0.04) for case in (once, taken_for_rows))
    assert once > 5 * as_rows


@pytest.mark.parametrize("copies", [1, 3])
def test_a_domain_that_fails_is_named(copies):
    html = failures(case_of(copies)).html
    assert "<bdi>bad</bdi>" in html
    assert "<bdi>rest</bdi>" not in html
