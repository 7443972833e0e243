"""The page of one evaluation with every kind of row."""

import pytest

from abstain.evaluation.page import PageLabels, evaluation_page, page_context


@pytest.fixture(scope="package")
def html(evaluation):
    return evaluation_page(page_context(evaluation, risk=0.1, labels=PageLabels(run="my run/")))
