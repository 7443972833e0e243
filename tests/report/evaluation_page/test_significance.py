import pytest

from abstain.report.evaluation_page.significance import adjusted


def test_holm_takes_the_largest_so_far():
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert adjusted([]) == []
    assert adjusted([0.9, 0.8]) == [1.0, 1.0]
