import numpy as np
import pytest

from abstain.evaluation.divisions import Division
from abstain.evaluation.page.counts import ThresholdCounts
from abstain.thresholds.binomial import upper_bound


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    confidence = np.round(rng.normal(size=400), 1)
    confidence[:5] = -np.inf
    division = Division("d", "D", ("a", "b", "c"), rng.integers(3, size=400))
    return confidence, rng.random(400) < 0.3, rng.integers(3, size=400), division


def unpacked(result, width):
    at = np.cumsum(result["at"])
    rows, errors = np.zeros((2, width * (at[-1] // width + 1)), dtype=int)
    rows[at], errors[at] = result["rows"], result["errors"]
    return rows.reshape(-1, width).cumsum(axis=0), errors.reshape(-1, width).cumsum(axis=0)


def test_counts_are_those_above_each_threshold(rows):
    confidence, errors, kinds, division = rows
    counts = ThresholdCounts.of(confidence, chosen=0.05)
    assert 0.05 in counts.thresholds
    total, wrong = unpacked(counts.of_parts(division, kinds, errors), 9)
    for position, threshold in enumerate(counts.thresholds):
        accepted = confidence > threshold
        assert counts.ranks[position] == np.count_nonzero(accepted)
        for kind in range(3):
            for part in range(3):
                chosen = accepted & (kinds == kind) & (division.number == part)
                assert total[position, 3 * kind + part] == np.count_nonzero(chosen)
                assert wrong[position, 3 * kind + part] == np.count_nonzero(errors & chosen)
    assert total[-1].sum() == 400  # with those that no threshold accepts


def test_bounds_are_of_the_rows_of_a_mix(rows):
    confidence, errors, kinds, _ = rows
    counts = ThresholdCounts.of(confidence)
    for position, bound in enumerate(counts.bounds("in+cov", kinds, errors, delta=0.1, clusters=None)):
        accepted = (confidence > counts.thresholds[position]) & (kinds < 2)
        assert bound == upper_bound(np.count_nonzero(errors & accepted), np.count_nonzero(accepted), 0.1)


def test_many_thresholds_are_thinned_and_the_chosen_one_stays():
    confidence = np.random.default_rng(0).normal(size=5000)
    counts = ThresholdCounts.of(confidence, chosen=0.123456)
    assert len(counts.ranks) in (2000, 2001)
    assert 0.123456 in counts.thresholds
    assert counts.ranks[-1] == 5000


def test_small_parts_become_one():
    division = Division("d", "D", ("a", "b", "c", "d"), np.array([0, 1, 1, 2, 2, 2, 3]))
    result = division.largest(3)
    assert result.parts == ("c", "b", "(2 others)")
    assert result.number.tolist() == [2, 1, 1, 0, 0, 0, 2]
