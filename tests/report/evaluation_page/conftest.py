"""The page of one evaluation with every kind of row."""

import pytest

from abstain.report.evaluation_page import evaluation_page


@pytest.fixture(scope="package")
def html(evaluation):
    return evaluation_page(evaluation, selector=None, risk=0.1, delta=0.05, run="my run/")
