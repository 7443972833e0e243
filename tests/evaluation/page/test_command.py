"""The line to copy asks for what can be had."""

import numpy as np
import pytest

from abstain import Outputs, calibrate, evaluate
from abstain.evaluation.operating_point import point_of_risk
from abstain.evaluation.page import evaluation_page, page_context
from abstain.evaluation.page.command import command, line_of
from abstain.evaluation.page.context import PageContext


def case_of(n, risk, rate=0.4):
    rng = np.random.default_rng(0)
    confidence = rng.random(n)
    rows = Outputs(confidences={"a": confidence}, errors=rng.random(n) < rate * (1 - confidence))
    evaluation = evaluate(rows)
    return PageContext(evaluation, point_of_risk(evaluation, risk=risk, delta=0.05), 0.05)


def test_an_achievable_risk_is_asked_for():
    assert line_of(case_of(2000, 0.1)) == "abstain calibrate run/ --score a --risk 0.1 --delta 0.05 -o selector.abstain"


def test_of_a_risk_that_is_not_achievable_the_lowest_one_is_asked_for():
    case = case_of(500, 0.001)
    limit = case.point.achievable.guarantee.limit
    assert 0.001 < limit < case.point.errors.mean()
    assert f" A risk of {100 * limit:g}%" in case.point.objection
    assert f"--risk {limit:g} --delta 0.05" in line_of(case)
    html = command(case).html
    assert "--coverage" not in html
    assert f"asks for {100 * limit:g}%, about the lowest that is achievable" in html
    assert "abstain plan --risk 0.001 --delta 0.05" in html
    selector = calibrate(case.point.outputs, score="a", risk=limit, delta=0.05)
    assert selector.threshold.value == case.point.achievable.value


@pytest.mark.parametrize(("n", "risk", "asked"), [(12, 0.001, "--risk 0.001"), (3, None, "--risk 0.2")])
def test_where_no_risk_below_that_of_all_rows_is_achievable_more_rows_are_planned(n, risk, asked):
    case = case_of(n, risk)
    assert line_of(case) == f"abstain plan {asked} --delta 0.05"
    assert "how many labelled rows a guarantee takes" in command(case).html


@pytest.mark.parametrize(("n", "start"), [(500, "abstain calibrate run/ --score a --risk 0."), (12, "abstain plan")])
def test_the_line_stays_in_the_browser_until_the_explorer_is_moved(opened, n, start):
    evaluation = case_of(n, 0.001).evaluation
    page = opened(evaluation_page(page_context(evaluation, risk=0.001)))
    page.wait_for_function("() => document.getElementById('explorer-accepted').textContent !== ''")
    line = page.locator("#command-line")
    assert line.inner_text().startswith(start)
    page.fill("#explorer-coverage", "50")
    page.press("#explorer-coverage", "Enter")
    page.wait_for_function("() => document.getElementById('command-line').textContent.includes('--coverage 0.5')")
    page.click("#explorer-reset")
    page.wait_for_function("() => !document.getElementById('command-line').textContent.includes('--coverage')")
    assert line.inner_text().startswith(start)


def test_of_graded_answers_a_risk_is_a_mean_loss():
    rows = Outputs(confidences={"a": np.linspace(1, 0, 500)}, losses=np.linspace(0, 0.5, 500))
    evaluation = evaluate(rows)
    case = PageContext(evaluation, point_of_risk(evaluation, risk=0.2, delta=0.05), 0.05)
    assert "mean loss of the accepted at most that" in command(case).html
    assert "wrong" not in command(case).html
