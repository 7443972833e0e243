"""Certified brackets against brute force, and against the rows themselves."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.metrics import augrc, aurc, coverage_at_risk, ood_auroc, risk_at_coverage
from abstain.sketch import Bins, Sketch

BINS = Bins(None, np.array([0x00800000, 0x40000000, 0x80000000, 0xBF800000], np.uint32))  # up to −2, 0, 1 and beyond
LOW = (-5.0, -1.0, 0.5, 2.0)  # a confidence in each


def sketch_of(counts, errors):
    """The counts of bins, the most trusted first."""
    confidence = np.repeat(LOW[::-1][: len(counts)], counts)
    wrong = np.concatenate([np.arange(n) < e for n, e in zip(counts, errors, strict=True)])
    return Sketch.of(confidence, wrong, bins=BINS).counts()


def orders(counts, errors):
    """The errors of rows in every order within bins."""
    each = [
        set(permutations([1] * e + [0] * (n - e))) for n, e in zip(counts, errors, strict=True)
    ]  # a set, since permutations repeat
    for choice in product(*each):
        yield np.array([item for part in choice for item in part])


def test_the_vector_of_the_theory():
    sketched = sketch_of([3, 1, 4, 2], [1, 0, 2, 2]).aurc()
    assert sketched.low == pytest.approx(0.255515873015873, abs=1e-12)
    assert sketched.point == pytest.approx(0.3559920634920634, abs=1e-12)
    assert sketched.high == pytest.approx(0.4731349206349206, abs=1e-12)


METRICS = {
    "aurc": (lambda c: c.aurc(), aurc),
    "aurc-0.35": (lambda c: c.aurc(0.35), lambda s, e: aurc(s, e, alpha=0.35)),
    "augrc": (lambda c: c.augrc(), augrc),
    "auroc": (lambda c: c.auroc(), lambda s, e: ood_auroc(s[e == 0], s[e == 1])),
    "risk": (lambda c: c.risk_at_coverage(0.45), lambda s, e: risk_at_coverage(s, e, coverage=0.45)),
    "coverage": (lambda c: c.coverage_at_risk(0.34), lambda s, e: coverage_at_risk(s, e, risk=0.34)),
}


@pytest.mark.parametrize("counts_errors", [([3, 1, 4, 2], [1, 0, 2, 2]), ([4, 4], [1, 3]), ([1, 5, 3], [1, 2, 0])])
@pytest.mark.parametrize("name", METRICS)
def test_a_bracket_is_sharp(name, counts_errors):
    of_counts, of_rows = METRICS[name]
    counts, errors = counts_errors
    result = of_counts(sketch_of(counts, errors))
    confidence = np.arange(sum(counts), 0, -1.0)
    values = [of_rows(confidence, each) for each in orders(counts, errors)]
    assert result.high == pytest.approx(max(values), abs=1e-11)
    if name == "coverage":  # the lower end is that of rows whose confidences tie in each bin
        tied = np.repeat(np.arange(len(counts), 0, -1.0), counts)
        values.append(of_rows(tied, next(orders(counts, errors))))
    assert result.low == pytest.approx(min(values), abs=1e-11)


rows = st.lists(
    st.tuples(
        st.one_of(
            st.floats(-6, 6, width=32), st.floats(allow_nan=True), st.sampled_from([0.0, -0.0, 1.0, np.inf, -np.inf])
        ),
        st.booleans(),
    ),
    min_size=1,
    max_size=60,
)
bins = st.one_of(st.integers(9, 32).map(Bins), st.just(BINS))


def check_contains(some, used, alpha):
    confidence, errors = (np.array(part) for part in zip(*some, strict=True))
    counts = Sketch.of(confidence, errors, bins=used).counts()
    below = np.where(np.isnan(confidence), -np.inf, confidence)
    assert counts.aurc(alpha).contains(aurc(below, errors, alpha=alpha))
    assert counts.augrc().contains(augrc(below, errors))
    assert counts.risk_at_coverage(alpha).contains(risk_at_coverage(below, errors, coverage=alpha))
    assert counts.coverage_at_risk(alpha).contains(coverage_at_risk(below, errors, risk=alpha))
    if 0 < errors.sum() < len(errors):
        assert counts.auroc().contains(ood_auroc(below[~errors], below[errors]))


@settings(max_examples=300, deadline=None)
@given(rows, bins, st.floats(0.01, 1.0))
def test_a_bracket_contains_the_value_of_the_rows(some, used, alpha):
    check_contains(some, used, alpha)


@pytest.mark.thorough
@settings(max_examples=10_000, deadline=None)
@given(rows, bins, st.floats(0.01, 1.0))
def test_a_bracket_contains_the_value_of_the_rows_in_ten_thousand_cases(some, used, alpha):
    check_contains(some, used, alpha)


def test_twenty_bits_tell_the_area_of_a_margin_to_a_thousandth():
    rng, n = np.random.default_rng(0), 200_000
    margin = rng.gamma(2, 4, size=n)
    errors = rng.random(n) < 0.5 * np.exp(-margin / 3) + 0.005
    result = Sketch.of(margin, errors).counts().aurc()
    assert result.contains(aurc(margin, errors))
    assert result.width < 1e-3 * result.point


def test_a_probability_is_told_far_worse_than_its_log_odds():
    rng, n = np.random.default_rng(0), 100_000
    margin = rng.gamma(2, 4, size=n)
    errors = rng.random(n) < 0.5 * np.exp(-margin / 3) + 0.005
    probability = 1 / (1 + np.exp(-margin))
    equal = Bins.equal_mass(probability[:20_000], number=1024)
    odds, by_mass, by_bits = (
        Sketch.of(each, errors, bins=bins).counts().aurc().width
        for each, bins in ((margin, Bins(20)), (probability, equal), (probability, Bins(20)))
    )
    assert by_mass < 0.25 * by_bits
    assert odds < 0.01 * by_mass


def test_equal_mass_makes_brackets_narrower_for_as_many_bins():
    rng, n = np.random.default_rng(0), 100_000
    margin = rng.gamma(2, 4, size=n)
    errors = rng.random(n) < 0.5 * np.exp(-margin / 3) + 0.005
    equal = Bins.equal_mass(rng.gamma(2, 4, size=20_000), number=1024)
    by_mass, by_bits = (Sketch.of(margin, errors, bins=each) for each in (equal, Bins(16)))
    assert by_mass.n_cells <= by_bits.n_cells
    assert by_mass.counts().aurc().width < 0.7 * by_bits.counts().aurc().width
