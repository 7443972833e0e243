"""A selector with a threshold for each class shows each of them, and what it does."""

import re

import numpy as np
import pytest

from abstain import Risk, calibrate
from abstain.evaluation.operating_point import point_of_selector
from abstain.evaluation.page.context import PageContext
from abstain.evaluation.page.decision import decision
from abstain.evaluation.page.explorer import explorer


def cells(html):
    table = re.search(r'<table id="group-thresholds".*?</table>', html)[0]
    body = re.findall(r"<tr>(.*?)</tr>", table)[1:]
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in body]


@pytest.mark.parametrize("per", ["class", "domain"])
def test_every_group_has_its_threshold_and_counts(evaluation, per):
    outputs = evaluation.given
    selector = calibrate(outputs, Risk(0.25, per=per), score="confidence_margin")
    html = decision(PageContext(evaluation, point_of_selector(evaluation, selector), 0.05)).html
    assert f"has a threshold for each {per}" in html
    assert "Explore moves one common threshold" in html
    group = outputs.predictions.astype(str) if per == "class" else outputs.domain
    accepted, rows = selector.accepts(outputs), {row[0]: row[1:] for row in cells(html)}
    assert set(rows) == set(selector.groups.thresholds) == set(group)
    for name, (value, n, taken, _, wrong, _) in rows.items():
        inside = group == name
        threshold = selector.groups.thresholds[name].value
        ends = {np.inf: "always rejected", -np.inf: "always accepted"}
        assert value == (ends.get(threshold) or f"{threshold:.6g}".replace("-", "−"))
        counts = inside.sum(), (inside & accepted).sum(), (inside & accepted & outputs.errors).sum()
        assert (n, taken, wrong) == tuple(f"{count:,}" for count in counts)


def test_one_threshold_for_all_needs_no_table(evaluation):
    selector = calibrate(evaluation.given, score="confidence_margin", risk=0.25)
    case = PageContext(evaluation, point_of_selector(evaluation, selector), 0.05)
    assert "group-thresholds" not in explorer(case).html
