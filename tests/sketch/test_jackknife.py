"""Standard errors from parts of the rows, against the influence functions of rows and clusters."""

import numpy as np
import pytest

from abstain.metrics import aurc_estimates, compare
from abstain.sketch import Sketch
from abstain.sketch.cells import parts_of


def two_scores(n, seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    errors = rng.random(n) < 1 / (1 + np.exp(2 + 1.5 * z))
    return z + 0.3 * rng.normal(size=n), z + 0.6 * rng.normal(size=n), errors


def pair_of(plan, a, b, errors, ids):
    sketch = Sketch(plan, *plan.count_pairs({"a": a, "b": b}, errors, ids, []))
    return sketch.counts("a"), sketch.counts("b")


def test_a_paired_difference_is_as_sure_as_that_of_the_rows(pair_plan):
    ratios = []
    for seed in range(8):
        a, b, errors = two_scores(4000, seed)
        ours = (lambda single, other: single.compare(other))(*pair_of(pair_plan(), a, b, errors, np.arange(4000)))
        theirs = compare(a, b, errors)
        assert ours.difference == pytest.approx(theirs.difference, abs=1e-4)
        ratios.append(ours.se / theirs.se)
    assert np.mean(ratios) == pytest.approx(1, abs=0.12)


def test_pairing_makes_it_surer(pair_plan):
    a, b, errors = two_scores(4000, 1)
    single, other = pair_of(pair_plan(), a, b, errors, np.arange(4000))
    apart = sum(each.estimates()[0].se ** 2 for each in (single, other)) ** 0.5
    assert single.compare(other).se < 0.8 * apart


def test_clusters_are_counted_whole():
    ratios = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        z = np.repeat(rng.normal(size=500), 8)
        errors = np.repeat(rng.random(500), 8) < 1 / (1 + np.exp(1.5 + 1.5 * z))
        ids = np.repeat(np.arange(500), 8)
        confidence = z + 0.3 * rng.normal(size=4000)
        ours = Sketch.of(confidence, errors, ids=ids).counts().estimates()[0]
        ratios.append(ours.se / aurc_estimates(confidence, errors, alphas=[1.0], ids=ids)[0].se)
    assert np.mean(ratios) == pytest.approx(1, abs=0.15)


def test_few_errors_never_make_an_interval_shorter_than_rows_would():
    confidence, errors = np.arange(500.0), np.zeros(500, bool)
    errors[[3, 40]] = True
    ours = Sketch.of(confidence, errors, ids=np.arange(500)).counts().estimates()[0]
    theirs = Sketch.of(confidence, errors).counts().estimates()[0]
    assert ours.low <= theirs.low
    assert ours.high >= theirs.high


def test_one_part_has_no_standard_error():
    with pytest.raises(ValueError, match="needs rows in at least 2 parts, got 1"):
        Sketch.of([0.5, 0.4], [1, 0], ids=["a", "a"]).counts().estimates()


def test_scores_of_other_rows_are_not_compared(pair_plan):
    a, b, errors = two_scores(300, 0)
    single, _ = pair_of(pair_plan(), a, b, errors, np.arange(300))
    other, _ = pair_of(pair_plan(), a[:200], b[:200], errors[:200], np.arange(200))
    with pytest.raises(ValueError, match="`other` must count the same rows"):
        single.compare(other)


def test_parts_are_the_same_everywhere():
    assert (
        parts_of(["hospital-1", "hospital-2", "ü"], 32).tolist()
        == parts_of(np.array(["hospital-1", "hospital-2", "ü"], dtype="<U40"), 32).tolist()
    )
    assert parts_of([0, 1, -1, 2**40], 32).tolist() == parts_of(np.array([0, 1, -1, 2**40], np.int64), 32).tolist()
    assert parts_of(np.arange(3, dtype=np.int32), 32).tolist() == parts_of(np.arange(3, dtype=np.uint64), 32).tolist()


def test_parts_are_even():
    for ids in (np.arange(64_000), np.arange(64_000).astype(str)):
        sizes = np.bincount(parts_of(ids, 32), minlength=32)
        assert sizes.min() > 1800
        assert sizes.max() < 2200
