"""The section on new rows without labels."""

import pytest

from abstain import calibrate, estimate_risk
from abstain.evaluation.page import evaluation_page, page_context
from abstain.evaluation.page.unlabelled import unlabelled


@pytest.fixture(scope="module")
def page(evaluation):
    rows = evaluation.given
    known, new = rows[rows.shift == "none"], rows[rows.shift == "covariate"]
    selector = calibrate(known, coverage=0.8)
    estimate = estimate_risk(selector, new, reference=known)
    return page_context(evaluation, selector=selector, estimate=estimate)


def test_it_has_a_row_for_each_method_and_says_that_nothing_is_guaranteed(page):
    html = unlabelled(page).html
    for each in page.estimate.estimates:
        assert f"{each.method}: " in html
        assert page.percent(each.risk) in html
    assert "An estimate, not a guarantee" in html


def test_the_page_shows_it(page):
    assert "New rows without labels" in evaluation_page(page)


def test_without_an_estimate_there_is_no_section(evaluation):
    assert unlabelled(page_context(evaluation)) is None
