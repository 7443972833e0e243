"""The boundaries of the step-down rule against every path of the walk."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from abstain.thresholds.critical_values import critical_values

N, RISK = 12, 0.4
PATHS = np.array(list(product((0, 1), repeat=N)))
CHANCES = np.prod(np.where(PATHS == 1, RISK, 1 - RISK), axis=1)
WALKS = PATHS.cumsum(axis=1)


def test_the_chance_of_crossing_is_within_the_level_from_every_rank():
    """Brute force over all 4,096 paths of 12 steps; the best boundary comes close to the level."""
    closest = 0.0
    for level in (0.05, 0.1, 0.3):
        (table,) = critical_values(N, RISK, 2, N, (level,))
        assert table.ranks.tolist() == list(range(2, N + 1))
        for cell, first in enumerate(table.ranks):
            crossed = (WALKS[:, first - 1 :] <= table.beginning(cell)).any(axis=1)
            chance = CHANCES[crossed].sum()
            assert chance <= level
            closest = max(closest, chance / level)
    assert closest > 0.9


@pytest.mark.parametrize(("n", "risk", "first"), [(60, 0.1, 20), (2000, 0.05, 600), (9000, 0.01, 500)])
def test_values_grow_with_the_first_rank_and_with_the_level(n, risk, first):
    low, high = critical_values(n, risk, first, n, (0.05, 0.1))
    for cell in range(0, len(low.ranks) - 1, 7):
        for table in (low, high):
            assert (table.beginning(cell)[1:] <= table.beginning(cell + 1)).all()
        assert (low.beginning(cell) <= high.beginning(cell)).all()


@pytest.mark.parametrize("n", [2000, 30_000])
def test_large_samples_cross_as_rarely_as_said(n):
    """Simulated walks: the chance to cross is at most the level, and most of it is used."""
    level, risk, runs = 0.1, 0.05, 4000
    (table,) = critical_values(n, risk, int(0.3 * n), n, (level,))
    rng = np.random.default_rng(0)
    steps = np.diff(table.ranks, prepend=0)
    walks = np.cumsum(rng.binomial(steps, risk, size=(runs, len(steps))), axis=1)
    crossed = (walks <= table.beginning(0)).any(axis=1).mean()
    assert 0.8 * level < crossed <= level + 3 * np.sqrt(level * (1 - level) / runs)


def test_a_single_rank_is_the_binomial_test():
    (table,) = critical_values(500, 0.1, 500, 500, (0.05,))
    allowed = table.beginning(0)[0]
    assert binom.cdf(allowed, 500, 0.1) <= 0.05 < binom.cdf(allowed + 1, 500, 0.1)


def test_nothing_rejects_where_even_no_error_is_not_rare():
    (table,) = critical_values(10, 0.05, 2, 10, (0.1,))
    assert (table.beginning(0) == -1).all()
