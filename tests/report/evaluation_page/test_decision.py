"""The page tests a promise as `certify` does."""

import re

import numpy as np
import pytest

from abstain import Outputs, calibrate, certify, evaluate
from abstain.report.evaluation_page.case import Case
from abstain.report.evaluation_page.decision import decision
from abstain.report.evaluation_page.point import point_of_selector


def drawn(n, seed, *, copies, rate):
    rng = np.random.default_rng(seed)
    confidence = rng.random(n)
    wrong = rng.random(n) < rate * (1 - confidence)
    ids = np.repeat(np.arange(n), copies)
    return Outputs(given={"a": np.repeat(confidence, copies)}, errors=np.repeat(wrong, copies), ids=ids)


@pytest.mark.parametrize(("copies", "rate"), [(1, 0.4), (1, 0.8), (3, 0.4), (3, 0.8)])
def test_the_p_value_is_that_of_the_certificate(copies, rate):
    selector = calibrate(drawn(3000, 0, copies=copies, rate=0.4), risk=0.1)
    fresh = drawn(1000, 1, copies=copies, rate=rate)
    evaluation = evaluate(fresh)
    html = decision(Case(evaluation, point_of_selector(evaluation, selector), 0.05, "run/")).html
    expected = certify(selector, fresh).fresh.tests[0].result
    assert re.search(r"\(p = ([^)]*)\)", html)[1] == f"{expected.p_value:.2g}"
    assert ("more than chance explains" in html) == (expected.verdict == "refuted") == (rate > 0.5)
