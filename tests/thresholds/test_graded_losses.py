"""Losses between 0 and 1 along the sample's own ranks: coins and bets, their validity and what they certify."""

from math import exp, log, sqrt

import numpy as np
import pytest

from abstain._kernels.bets import AIM, PRIOR, passed_in_turn
from abstain.thresholds import (
    NoSafeThresholdError,
    Quantity,
    empirical_without_guarantee,
    graded_losses,
    hoeffding_bentkus_p,
    step_down,
)
from abstain.thresholds.graded_losses import Bets, are_tossed, tossed
from abstain.thresholds.sample import Sample

RISK, DELTA, RUNS = 0.05, 0.1, 300
ALLOWED = DELTA + 3 * sqrt(DELTA * (1 - DELTA) / RUNS)
ABOVE = 1.002 * RISK


def halves(rng, mean):
    return np.where(rng.random(len(mean)) < np.minimum(mean / 0.75, 1), rng.choice([0.5, 1.0], len(mean)), 0.0)


FLAT = {
    "halves": lambda rng, n: halves(rng, np.full(n, ABOVE)),
    "mostly errors": lambda rng, n: (rng.random(n) < ABOVE) * np.where(rng.random(n) < 0.02, 1 - 1e-6, 1.0),
    "tiny variance": lambda rng, n: ABOVE + 0.0005 * rng.choice([-1.0, 1.0], n),
    "rarely 1": lambda rng, n: np.where(rng.random(n) < 0.002, 1.0, (ABOVE - 0.002) / 0.998),
    "beta": lambda rng, n: rng.beta(3 * ABOVE, 3 * (1 - ABOVE), n),
}


def share_accepting(rule, draw, n, values=None):
    """Of samples of which every threshold is unsafe, how many have something accepted."""
    accepting = 0
    for run in range(RUNS):
        rng = np.random.default_rng([run, n])
        c = rng.random(n) if values is None else rng.integers(values, size=n).astype(float)
        try:
            accepting += rule(c, draw(rng, n)).accepted > 0
        except NoSafeThresholdError:
            continue
    return accepting / RUNS


def ours(c, losses):
    return step_down(c, losses, risk=RISK, delta=DELTA)


@pytest.mark.parametrize("n", [300, 600])  # coins, bets
@pytest.mark.parametrize("name", FLAT)
def test_flat_losses_just_above_the_target_are_seldom_accepted(name, n):
    assert share_accepting(ours, FLAT[name], n) <= ALLOWED


@pytest.mark.parametrize("values", [5, 20])
@pytest.mark.parametrize("n", [300, 600])
def test_ties_of_losses_just_above_the_target_are_seldom_accepted(values, n):
    assert share_accepting(ours, FLAT["halves"], n, values) <= ALLOWED


def test_the_observed_mean_loss_is_no_guarantee():
    share = share_accepting(lambda c, x: empirical_without_guarantee(c, x, risk=RISK), FLAT["halves"], 600)
    assert share > 3 * ALLOWED


def test_a_mean_loss_that_goes_up_and_down_keeps_its_target():
    """Unsafe at first, then safe, unsafe and safe again: the sequence of ranks passes several bad intervals."""
    levels, up_to = np.array([ABOVE, 0.02, 0.06, 0.2, 0.049]), np.array([0.3, 0.35, 0.5, 0.55, 1.0])
    broken = 0
    for run in range(RUNS):
        rng = np.random.default_rng([run, 5])
        u = rng.random(900)
        losses = np.where(rng.random(900) < 2 * levels[np.searchsorted(up_to, u)], rng.random(900), 0.0)
        try:
            cover = min(1 - ours(1 - u, losses).value, 1.0)
        except NoSafeThresholdError:
            continue
        broken += levels[np.searchsorted(up_to, (np.arange(999) + 0.5) / 999 * cover)].mean() > RISK
    assert broken / RUNS <= ALLOWED


@pytest.mark.parametrize(("n", "gain"), [(300, 0.05), (2000, 0.03)])
def test_more_is_certified_than_by_hoeffding_and_bentkus(n, gain):
    coverage, former = [], []
    for run in range(40):
        rng = np.random.default_rng([run, n])
        u = np.sort(rng.random(n))
        losses = halves(rng, 0.005 + 0.45 * u**2)
        sample = Sample.of(1 - u, losses)
        try:
            coverage.append(ours(1 - u, losses).accepted / n)
        except NoSafeThresholdError:
            coverage.append(0.0)
        rank = int(0.3 * n)
        while rank < n and hoeffding_bentkus_p(sample.totals[rank - 1] / rank, rank, RISK) <= DELTA:
            rank += 1
        former.append((rank - 1) / n if rank > int(0.3 * n) else 0.0)
    assert np.mean(coverage) > np.mean(former) + gain


def rank_passes(losses, order, rank, risk, log_target):
    """Whether bets on the ``rank`` first losses alone reach the target."""
    return passed_in_turn(losses, order, rank, rank, 1, risk, np.array([log_target])) == rank


def test_bets_win_what_their_formula_says():
    """Against a plain loop over the capital, at many targets."""
    rng = np.random.default_rng(1)
    losses, order, rank = rng.random(60) * 0.3, rng.permutation(60), 40
    passed = []
    for target in np.linspace(1.01, 30, 100):
        capital, squares = 1.0, PRIOR * 0.2 * 0.8
        for t, row in enumerate(order[order < rank]):
            if capital >= target:
                break
            x = log(target / capital) + AIM
            bet = x * sqrt(2 / (x + 0.4 + 0.4 * sqrt(x))) / sqrt((rank - t) * squares / (PRIOR + t))
            capital *= 1 - min(bet, 1 / 0.8) * (losses[row] - 0.2)
            squares += (losses[row] - 0.2) ** 2
        passed.append(capital >= target)
        assert rank_passes(losses, order, rank, 0.2, log(target)) == passed[-1]
    assert 0 < sum(passed) < 100


def test_the_mean_capital_of_independent_losses_at_the_target_is_at_most_one():
    """All 2¹⁰ samples of losses that are 0 or ½ with mean r, each with its probability: the level is kept exactly."""
    risk, chance = 0.2, 0.4
    order, total = np.arange(10), {0.1: 0.0, 0.3: 0.0, 0.5: 0.0}
    for bits in range(1 << 10):
        high = np.array([bits >> i & 1 for i in range(10)])
        for level in total:
            if rank_passes(0.5 * high, order, 10, risk, -log(level)):
                total[level] += chance ** high.sum() * (1 - chance) ** (10 - high.sum())
    assert all(probability <= level for level, probability in total.items())
    assert total[0.5] > 0


def test_a_rank_passes_only_at_every_level_that_could_occur():
    rng = np.random.default_rng(3)
    losses, order = rng.random(400) * 0.09, rng.permutation(400)
    each = [passed_in_turn(losses, order, 100, 400, 1, 0.05, np.array([-log(level)])) for level in (0.02, 0.1)]
    both = passed_in_turn(losses, order, 100, 400, 1, 0.05, -np.log([0.02, 0.1]))
    assert both == min(each)


def test_a_sure_loss_ruins_a_bold_bet_and_none_lets_it_pass():
    zeros = np.zeros(44)
    assert rank_passes(zeros, np.arange(44), 44, 0.1, log(20.0))
    ruined = zeros.copy()
    ruined[0] = 1.0
    assert not rank_passes(ruined, np.arange(44), 29, 0.1, log(20.0))
    assert exp(-29 * log(0.9)) > 20  # which 29 rows without a loss reach when all is bet


def test_coins_have_the_mean_of_the_losses_and_leave_errors_as_they_are():
    rng = np.random.default_rng(0)
    losses = rng.random(20_000) ** 3
    sample = Sample.of(rng.random(20_000), losses)
    assert tossed(sample).losses.mean() == pytest.approx(losses.mean(), abs=4 * sqrt(0.25 / 20_000))
    assert tossed(sample).are_errors
    errors = Sample.of(rng.random(500), rng.random(500) < 0.1)
    assert (tossed(errors).losses == errors.losses).all()


def test_the_same_rows_in_another_order_have_the_same_threshold():
    rng = np.random.default_rng(4)
    for n in (300, 1500):
        u, mixed = rng.random(n), rng.permutation(n)
        losses = 0.2 * u**2 * rng.random(n)
        first, second = ours(1 - u, losses), ours(1 - u[mixed], losses[mixed])
        assert first == second


def test_rows_and_risk_decide_between_coins_and_bets():
    assert are_tossed(399, 0.05)
    assert not are_tossed(401, 0.05)
    assert not are_tossed(20_001, 0.05)


def test_more_rows_than_bet_one_rank_at_a_time_certify_no_less():
    """Coins for losses that hardly vary lost 0.03 of the coverage from 20,000 rows to 20,001."""
    coverages = []
    for n in (20_000, 20_001):
        u = (np.arange(n) + 0.5) / n
        coverages.append(ours(1 - u, 0.03 + 0.07 * u**2).accepted / n)
    assert coverages[1] == pytest.approx(coverages[0], abs=0.003)


@pytest.mark.parametrize("values", [None, 20])
@pytest.mark.parametrize("name", ["halves", "beta"])
def test_ranks_that_share_bets_keep_the_target(monkeypatch, name, values):
    """As beyond 20,000 rows, here with 600 and cells of 4 ranks."""
    monkeypatch.setattr(graded_losses, "MANY_ROWS", 300)
    monkeypatch.setattr(graded_losses, "CELLS", 20)
    assert share_accepting(ours, FLAT[name], 600, values) <= ALLOWED


def test_the_bets_of_a_cell_are_fair_for_every_rank_in_it():
    """As above for all samples, with a rank whose last row is left out of bets placed for the one after it."""
    order, total = np.array([3, 7, 0, 5, 1, 6, 2, 4]), {0.3: 0.0, 0.5: 0.0}
    for bits in range(1 << 8):
        high = np.array([bits >> i & 1 for i in range(8)])
        for level in total:
            if passed_in_turn(0.5 * high, order, 7, 8, 2, 0.2, np.array([-log(level)])) >= 7:
                total[level] += 0.4 ** high.sum() * 0.6 ** (8 - high.sum())
    assert all(probability <= level for level, probability in total.items())
    assert total[0.5] > 0


def test_the_guarantee_is_about_a_mean_loss():
    u = np.linspace(0, 1, 1000)
    threshold = ours(1 - u, 0.2 * u)
    assert threshold.guarantee.quantity is Quantity.LOSS
    assert "the mean loss among accepted rows is at most 0.05" in str(threshold)
    assert "mean loss of" in threshold.observed
    assert "wrong" not in threshold.observed


def test_bets_are_the_same_for_all_ranks_of_a_sample():
    sample = Sample.of(np.linspace(1, 0, 500), np.full(500, 0.02))
    assert (Bets.of(sample).order == Bets.of(sample).order).all()
    assert Bets.of(sample).in_turn(200, 500, RISK, (DELTA,)) == 500
