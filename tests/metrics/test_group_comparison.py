"""Intervals of groups hold for all groups together; differences and intersections follow from them."""

import numpy as np
import pytest

from abstain.metrics import compare_groups, intersection, share, slices

GROUPS, N, RUNS = 12, 250, 120
COVERAGE, RISK = np.linspace(0.5, 0.95, GROUPS), np.linspace(0.02, 0.3, GROUPS)


def rows(seed, *, copies=1):
    rng = np.random.default_rng([seed, 31])
    group = np.repeat(np.arange(GROUPS), N // copies)
    accepted, wrong = rng.random(len(group)) < COVERAGE[group], rng.random(len(group)) < RISK[group]
    ids = np.repeat(np.arange(len(group)), copies)
    return np.array([f"g{k:02}" for k in group])[ids], accepted[ids], wrong[ids], ids


def all_hold(groups):
    return all(
        part.coverage.low <= COVERAGE[k] <= part.coverage.high and part.risk.low <= RISK[k] <= part.risk.high
        for k, part in enumerate(groups)
    )


@pytest.mark.parametrize("copies", [1, 5])
def test_all_intervals_hold_together_and_those_of_single_groups_do_not(copies):
    held = {"together": 0, "single": 0}
    for seed in range(RUNS):
        names, accepted, wrong, ids = rows(seed, copies=copies)
        ids = None if copies == 1 else ids
        held["together"] += all_hold(compare_groups(names, accepted, wrong, ids=ids).groups)
        held["single"] += all_hold(slices(names, accepted, wrong, ids=ids))
    assert held["together"] / RUNS >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / RUNS)
    assert held["single"] / RUNS < 0.75


def test_equal_groups_are_seldom_called_different():
    different = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, 32])
        comparison = compare_groups(
            rng.integers(0, 8, 2000).astype(str), rng.random(2000) < 0.7, rng.random(2000) < 0.1
        )
        different += any(gap.at_least > 0 for gap in comparison.gaps())
    assert different / RUNS <= 0.05 + 3 * np.sqrt(0.95 * 0.05 / RUNS)


def test_rates_are_those_of_the_rows():
    names, accepted, wrong, _ = rows(0)
    comparison = compare_groups(names, accepted, wrong, level=0.9)
    part, inside = comparison.groups[3], names == "g03"
    level = 1 - 0.1 / (3 * GROUPS)
    assert (part.n, part.accepted, part.errors) == (N, accepted[inside].sum(), (accepted & wrong)[inside].sum())
    assert part.coverage == share(accepted[inside], level=level)
    assert part.risk == share(wrong[inside & accepted], level=level)
    assert part.missed == share((accepted & wrong)[inside], level=level)


def test_a_gap_is_between_the_extreme_groups_and_at_least_what_the_intervals_leave():
    names, accepted, wrong, _ = rows(0)
    comparison = compare_groups(names, accepted, wrong)
    gap, rates = comparison.gap("coverage"), {part.name: part.coverage for part in comparison.groups}
    assert gap.difference == rates[gap.high].value - rates[gap.low].value
    pairs = [a.low - b.high for a in rates.values() for b in rates.values() if a is not b]
    assert gap.at_least == max(0, *pairs)
    assert gap.at_least < gap.difference


def test_groups_of_which_nothing_is_accepted_have_no_risk_and_one_group_no_gap():
    comparison = compare_groups(["a", "a", "b"], [False, False, True], [1, 0, 1])
    assert comparison.groups[0].risk is None
    assert comparison.gap("risk") is None
    assert "within chance" in comparison.gap("coverage").words
    assert not compare_groups(["a", "a"], [True, False], [0, 0]).gaps()


def test_columns_of_different_lengths_do_not_intersect():
    assert intersection({"a": [1, 2], "b": ["x", "y"]}).tolist() == ["1 × x", "2 × y"]
    with pytest.raises(ValueError, match="`columns` must be of one length, got several"):
        intersection({"a": [1, 2], "b": ["x"]})
    with pytest.raises(ValueError, match="`columns` must have at least one column, got none"):
        intersection({})


def test_misses_of_a_true_class_share_the_level_with_the_other_rates():
    names, accepted, wrong, ids = rows(0)
    fraud = ids % 10 == 0
    fraud &= names != "g00"  # a group without any
    comparison = compare_groups(names, accepted, wrong, level=0.9, classes={"fraud": fraud})
    part, inside = comparison.groups[3], (names == "g03") & fraud
    assert part.misses == {"fraud": share((accepted & wrong)[inside], level=1 - 0.1 / (4 * GROUPS))}
    assert part.coverage == share(accepted[names == "g03"], level=1 - 0.1 / (4 * GROUPS))
    assert comparison.groups[0].misses == {}
    gap = comparison.gap("fraud")
    assert gap.high != "g00"
    assert "share accepted with another answer among rows of the true class fraud: " in gap.words
    assert [each.rate for each in comparison.gaps()] == ["coverage", "risk", "missed", "fraud"]


def test_intervals_of_misses_hold_together_with_the_others():
    held, rates = 0, np.linspace(0.02, 0.3, GROUPS)
    for seed in range(RUNS):
        names, _, _, _ = rows(seed)
        rng = np.random.default_rng([seed, 33])
        fraud, wrong = rng.random(len(names)) < 0.2, rng.random(len(names)) < np.repeat(rates, N)
        compared = compare_groups(names, np.ones(len(names), dtype=bool), wrong, classes={"fraud": fraud}).groups
        held += all(g.misses["fraud"].low <= rates[k] <= g.misses["fraud"].high for k, g in enumerate(compared))
    assert held / RUNS >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / RUNS)
