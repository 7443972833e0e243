"""Where few errors are expected efficient ranks alone are tested: exact sizes, ties enumerated, invalid variants."""

from importlib import import_module
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

from abstain.thresholds import step_down
from abstain.thresholds.critical_values import efficient_ranks, errors_allowed, nearest_efficient
from abstain.thresholds.sample import Sample
from abstain.thresholds.segments import few_errors, segments
from abstain.thresholds.step_down import SafeRanks

RISK, DELTA = 0.05, 0.1


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.3, 0.85])
@pytest.mark.parametrize("level", [0.2, 0.1, 0.003])
def test_they_are_the_first_ranks_at_which_one_more_error_is_allowed(risk, level):
    ranks = np.arange(1, 301)
    allowed = np.array([np.flatnonzero(np.r_[True, binom.cdf(np.arange(k), k, risk) <= level])[-1] - 1 for k in ranks])
    np.testing.assert_array_equal(errors_allowed(ranks, risk, level), allowed)
    expected = ranks[np.diff(allowed, prepend=-1) > 0]
    np.testing.assert_array_equal(efficient_ranks(risk, level, 1, 300), expected)
    np.testing.assert_array_equal(efficient_ranks(risk, level, 40, 200), expected[(expected >= 40) & (expected <= 200)])


def test_the_nearest_is_one_of_them_within_the_bounds_or_the_rank_itself():
    assert nearest_efficient(90, 0.05, 0.1, first=1, last=300) == 77
    assert nearest_efficient(90, 0.05, 0.1, first=80, last=300) == 105
    assert nearest_efficient(110, 0.05, 0.1, first=106, last=131) == 110


@pytest.mark.parametrize(
    ("n", "risk", "delta"), [(170, 0.05, 0.1), (300, 0.05, 0.1), (900, 0.05, 0.1), (2000, 0.02, 0.05), (40, 0.5, 0.2)]
)
def test_the_size_at_a_flat_risk_is_delta_at_most_and_most_of_it(n, risk, delta):
    """Exactly: with every rank bad, a sample breaks iff any segment passes at its first rank, inheriting nothing."""
    assert few_errors(n, risk)
    alive, at, size = np.ones(1), 0, 0.0  # the chances of the errors so far, where nothing has passed
    for segment in segments(n, risk, delta):
        alive = np.convolve(alive, binom.pmf(np.arange(segment.first - at + 1), segment.first - at, risk))
        allowed = errors_allowed(np.array([segment.first]), risk, segment.share * delta)[0]
        size += alive[: allowed + 1].sum()
        alive[: allowed + 1], at = 0.0, segment.first
    assert 0.75 * delta < size <= delta


def compositions(n, parts):
    """All ways to share n rows among so many parts, (m, parts)."""
    bars = np.array(list(combinations(range(n + parts - 1), parts - 1)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n + parts - 1)])
    return np.diff(edges, axis=1) - 1


def certified_values(rule, rows):
    """(m, 3) which of three values are certified as the lowest accepted, for each composition of the rows."""
    result = np.zeros((len(rows), 3), dtype=bool)
    for number, each in enumerate(rows.reshape(-1, 3, 2)):
        sizes = each.sum(axis=1)
        confidence = np.repeat([3.0, 2.0, 1.0], sizes)
        losses = np.concatenate([np.r_[np.ones(wrong), np.zeros(right)] for right, wrong in each])
        ends = np.cumsum(sizes)
        result[number] = np.isin(ends, rule(confidence, losses)) & (sizes > 0)
    return result


def worst(certified, rows, *, risk, tries=500, seed=0):
    """The largest chance that any value with a risk above the target is certified, over random laws of three values."""
    rng, n = np.random.default_rng(seed), rows[0].sum()
    coefficient = gammaln(n + 1) - gammaln(rows + 1).sum(axis=1)
    largest = 0.0
    for _ in range(tries):
        masses, rates = rng.dirichlet(np.ones(3)), rng.beta(2, 2, size=3)
        over = np.cumsum(masses * rates)[rng.integers(3)]  # scaled so that one of the values is just above the target
        rates = np.minimum(
            rates * (risk + 1e-9) * np.cumsum(masses)[np.argmax(np.cumsum(masses * rates) == over)] / over, 1
        )
        bad = np.cumsum(masses * (rates - risk)) > 0
        chances = np.column_stack([masses * (1 - rates), masses * rates]).ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(rows > 0, rows * np.log(chances), 0.0).sum(axis=1)
        broken = (certified & bad).any(axis=1)
        largest = max(largest, float(np.exp(coefficient + logs)[broken].sum()))
    return largest


N, HIGH, LEVEL = 11, 0.75, 0.2


@pytest.fixture(scope="module")
def rows():
    return compositions(N, 6)


def ranks_only(confidence, losses):
    return SafeRanks.of(Sample.of(confidence, losses), HIGH, LEVEL).ranks


def to_the_end_of_the_tie(confidence, losses):
    """Invalid: the whole tie is certified by a rank inside it, though its errors come in a random order."""
    sample = Sample.of(confidence, losses)
    (segment,) = segments(N, HIGH, LEVEL)
    ranks = efficient_ranks(HIGH, LEVEL, segment.first, N)
    passed = np.logical_and.accumulate(sample.totals[ranks - 1] <= errors_allowed(ranks, HIGH, LEVEL))
    ends = np.cumsum(np.unique(-confidence, return_counts=True)[1])
    return ends[np.searchsorted(ends, ranks[passed])]


def test_ties_keep_the_guarantee_exactly_whatever_the_law_of_three_values(rows, monkeypatch):
    monkeypatch.setattr(import_module("abstain.thresholds.step_down"), "FEW", 0)
    assert few_errors(N, HIGH)
    certified = certified_values(ranks_only, rows)
    assert 0.4 * LEVEL < worst(certified, rows, risk=HIGH) <= LEVEL


def test_a_tie_certified_by_a_rank_inside_it_breaks_the_guarantee_there(rows):
    certified = certified_values(to_the_end_of_the_tie, rows)
    assert worst(certified, rows, risk=HIGH) > LEVEL


def burst(n, *, runs, at, seed):
    """No errors, then a run of them that brings the risk to the target at one place, and the target from there on."""
    rng = np.random.default_rng(seed)
    positions = np.sort(rng.random((runs, n)), axis=1)
    rates = np.where(positions < at * (1 - RISK), 0.0, np.where(positions < at, 1.0, RISK + 1e-6))
    return positions, np.cumsum(rng.random((runs, n)) < rates, axis=1)


def test_every_cell_extended_breaks_the_guarantee_and_the_last_alone_keeps_it():
    """The first unsafe rank lies between two that are tested: to pass at either of them is one event too many."""
    n, runs = 160, 20_000
    (segment,) = segments(n, RISK, DELTA)
    ranks = efficient_ranks(RISK, DELTA, segment.first, n)
    allowed, at = errors_allowed(ranks, RISK, DELTA), (ranks[3] + 5) / n
    positions, totals = burst(n, runs=runs, at=at, seed=0)
    passed = np.logical_and.accumulate(totals[:, ranks - 1] <= allowed, axis=1)
    cell = np.searchsorted(ranks, np.arange(ranks[0], n + 1), side="right") - 1
    extended = passed[:, cell] & (totals[:, ranks[0] - 1 :] <= allowed[cell])
    unsafe = positions[:, ranks[0] - 1 :] > at
    noise = 3 * sqrt(DELTA * (1 - DELTA) / runs)
    assert (extended & unsafe).any(axis=1).mean() > DELTA + noise
    extended[:, np.isin(np.arange(ranks[0], ranks[-1]), ranks, invert=True).nonzero()[0]] = False
    assert 0.7 * DELTA < (extended & unsafe).any(axis=1).mean() <= DELTA + noise
    for row in range(200):  # and that is the rule
        sample = Sample.of(1 - positions[row], np.diff(totals[row], prepend=0).astype(float))
        np.testing.assert_array_equal(SafeRanks.of(sample, RISK, DELTA).ranks, ranks[0] + np.flatnonzero(extended[row]))


@pytest.mark.parametrize(("n", "least"), [(200, 0.16), (300, 0.24), (500, 0.31)])
def test_small_samples_certify_what_they_are_known_to(n, least):
    """Distribution A; the rule before certified 0.126, 0.193 and 0.28."""
    rng, coverage = np.random.default_rng(0), 0.0
    for _ in range(400):
        u = rng.random(n)
        safe = SafeRanks.of(Sample.of(1 - u, (rng.random(n) < 0.005 + 0.45 * u**2).astype(float)), RISK, DELTA).ranks
        coverage += safe[-1] / n / 400 if len(safe) else 0.0
    assert coverage > least


def test_wrong_rows_first_in_a_tie_certify_what_is_above_it():
    """Ranks 105 and 132 fall into a tie with two wrong rows: one certifies what is above it, the other all of it."""
    confidence = np.r_[np.full(104, 2.0), np.ones(60), np.zeros(136)]
    losses = np.r_[np.zeros(104), np.ones(2), np.zeros(58), np.ones(136)]
    spread = confidence + np.r_[np.linspace(1, 0.1, 104), np.zeros(196)]
    safe = SafeRanks.of(Sample.of(spread, losses), RISK, DELTA).ranks
    np.testing.assert_array_equal(safe[-2:], [104, 164])


def test_near_ties_are_ties_there_too():
    u = np.sort(np.random.default_rng(1).random(300))
    u[1::2] = np.nextafter(u[::2], 2)
    threshold = step_down(1 - u, np.arange(300) >= 240, risk=RISK, delta=DELTA)
    assert threshold.accepted % 2 == 0
    assert threshold.accepted > 200


def beside_a_tie():
    """Rank 105 falls into a tie with two wrong rows, rank 132 too: one certifies what is above it, the other all."""
    confidence = np.r_[np.linspace(3, 2.1, 104), np.ones(60), np.zeros(136)]
    return confidence, np.r_[np.zeros(104), np.ones(2), np.zeros(58), np.ones(136)]


@pytest.mark.parametrize("scale", [1.0, 17.0, -1e-4, 1e200])
def test_the_threshold_lies_at_the_tie_that_a_rank_inside_it_certifies(scale):
    confidence, losses = beside_a_tie()
    confidence = abs(scale) * confidence - (2 * abs(scale) if scale < 0 else 0)
    tie, size = confidence[104], abs(confidence[104])
    threshold = step_down(confidence, losses, risk=RISK, delta=DELTA)
    assert threshold.accepted == 164
    assert tie - 1.01e-5 * size < threshold.value < tie - 0.9e-5 * size
    assert np.float32(tie / size) > np.float32(threshold.value / size)
    assert f"{threshold.value:.6g}" != f"{tie:.6g}"


@pytest.mark.parametrize("below", [-1e3, -3.4e38, -np.inf])
@pytest.mark.parametrize("size", [1.0, 1e-8])
def test_it_lies_there_however_low_the_rows_below_are(below, size):
    confidence, losses = beside_a_tie()
    threshold = step_down(np.where(confidence == 0, below, size * confidence), losses, risk=RISK, delta=DELTA)
    assert threshold.accepted == 164
    assert (1 - 1.01e-5) * size < threshold.value < (1 - 0.9e-5) * size


def test_the_threshold_lies_just_below_a_tie_at_zero():
    confidence, losses = beside_a_tie()
    assert -1.01e-5 < step_down(confidence - 1, losses, risk=RISK, delta=DELTA).value < -0.9e-5


def test_the_threshold_lies_at_the_next_tie_where_a_wrong_row_of_that_certifies_what_is_above():
    confidence, losses = beside_a_tie()
    losses[106:140] = 1  # so that rank 105 passes at a wrong row, and 132 does not
    threshold = step_down(confidence, losses, risk=RISK, delta=DELTA)
    assert threshold.accepted == 104
    assert 1 < threshold.value < 1.0001


def test_it_lies_halfway_where_the_end_of_the_tie_itself_is_tested():
    confidence, losses = beside_a_tie()
    sample = Sample.of(confidence, losses)
    safe = SafeRanks.of(sample, RISK, DELTA)
    assert 77 in safe.ranks
    assert safe.value(77) == sample.below(77)
