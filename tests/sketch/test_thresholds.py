"""Thresholds from counts: those of the rows where all bits are kept, and guarantees that hold where they are not."""

from math import sqrt

import numpy as np
import pytest

from abstain.sketch import Bins, Sketch
from abstain.sketch import thresholds as of_sketch
from abstain.sketch.suppression import coarsened
from abstain.sketch.thresholds import BinnedSample
from abstain.thresholds import NoSafeThresholdError, methods, step_down, target_coverage
from abstain.thresholds.coverage import rank_for_coverage


def draw(n, seed, ties=None):
    rng = np.random.default_rng(seed)
    path = rng.random(n)
    errors = rng.random(n) < 0.3 * path**2
    confidence = np.float32(3 - 3 * path)
    return (confidence if ties is None else confidence.round(ties)), errors


@pytest.mark.parametrize("ties", [None, 2, 0])
def test_with_every_bit_a_threshold_is_that_of_the_rows(ties):
    confidence, errors = draw(3000, 1, ties)
    counts = Sketch.of(confidence, errors, bins=Bins(32)).counts()
    for risk in (0.03, 0.06):
        ours, theirs = of_sketch.target_risk(counts, risk=risk), step_down(confidence, errors, risk=risk)
        assert ours == theirs
    assert of_sketch.target_coverage(counts, coverage=0.8, delta=0.05).value == (
        target_coverage(confidence, coverage=0.8, delta=0.05).value
    )


@pytest.mark.parametrize("bins", [Bins(12), Bins(20), Bins(32)])
def test_where_ranks_inside_ties_are_tested_too_it_accepts_the_rows_that_theirs_does(bins):
    for seed in range(20):
        confidence, errors = draw(400, seed, 1)
        ours = of_sketch.target_risk(Sketch.of(confidence, errors, bins=bins).counts(), risk=0.12)
        theirs = step_down(confidence, errors, risk=0.12)
        assert ours.accepted == theirs.accepted == (confidence > ours.value).sum()
        assert ours == theirs or bins.bits < 32


@pytest.mark.parametrize("method", [method for method in methods.METHODS.values() if method.from_counts])
def test_every_method_for_counts_finds_the_threshold_of_the_rows(method):
    confidence, errors = draw(3000, 1)
    counts = Sketch.of(confidence, errors, bins=Bins(32)).counts()
    assert of_sketch.target_risk(counts, risk=0.06, method=method.name) == method.rule(confidence, errors, risk=0.06)


def test_a_method_that_needs_rows_is_refused():
    counts = Sketch.of(*draw(100, 1)).counts()
    known = ", ".join(method.name for method in methods.METHODS.values() if method.from_counts)
    with pytest.raises(ValueError, match=f"be one of {known} for a sketch, got 'betting'"):
        of_sketch.target_risk(counts, risk=0.06, method="betting")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("bins", [Bins(12), Bins(20), Bins.equal_mass(np.linspace(0, 3, 500), number=40)])
def test_a_threshold_accepts_what_was_counted(kind, bins):
    confidence, errors = draw(3000, 2)
    confidence = confidence.astype(kind) * kind(1 - 1e-9)
    sample = BinnedSample(Sketch.of(confidence, errors, bins=bins).counts())
    for rank, total in zip(sample.ends, sample.totals_at_ends, strict=True):
        accepted = confidence.astype(np.float64) > sample.below(int(rank))
        assert (accepted.sum(), errors[accepted].sum()) == (rank, total)


def test_rounding_to_float32_does_not_change_sides():
    upper = np.nextafter(np.float32(1), np.float32(2))  # 1 has an even last bit, so that the middle is rounded to it
    lower = np.nextafter(np.float32(1), np.float32(0))
    for a, b in ((np.float32(1), upper), (lower, np.float32(1))):
        middle = (np.float64(a) + np.float64(b)) / 2
        confidence = np.array([b, middle, a], np.float64)
        counts = Sketch.of(confidence, [0, 0, 0], bins=Bins(32)).counts()
        value = BinnedSample(counts).below(int(counts.counts[0]))
        assert (confidence > value).sum() == counts.counts[0]


def test_infinite_and_huge_confidences_stay_apart():
    confidence = np.array([np.inf, 1e300, 1e39, 5.0, -1e300, -np.inf, np.nan])
    sample = BinnedSample(Sketch.of(confidence, np.zeros(7)).counts())
    assert sample.ends.tolist() == [1, 3, 4, 5]
    for rank in sample.ends:
        assert (confidence > sample.below(int(rank))).sum() == rank


def simulate(law, method, trials=300, n=1500, risk=0.05, delta=0.1):
    """How often a threshold is found, and how often its true risk is above the target."""
    result = violations = 0
    for trial in range(trials):
        rng = np.random.default_rng([7, trial])
        path = rng.random(n)
        errors = rng.random(n) < law(path)
        try:
            threshold = method(Sketch.of(1 + 3 * (1 - path), errors, bins=Bins(13)), risk, delta)
        except NoSafeThresholdError:
            continue
        accepted = np.linspace(0, 1, 4001)[1:]
        accepted = accepted[1 + 3 * (1 - accepted) > threshold.value]
        result += 1
        violations += law(accepted).mean() > risk
    return result / trials, violations / trials


LAWS = {"rising": lambda u: 0.15 * u, "flat": lambda u: np.full(np.shape(u), 0.0505), "two": lambda u: 0.4 * (u > 0.45)}
METHODS = {
    "step_down": lambda s, risk, delta: of_sketch.target_risk(s.counts(), risk=risk, delta=delta),
    "own bins": lambda s, risk, delta: of_sketch.target_risk(coarsened(s, minimum=15).counts(), risk=risk, delta=delta),
}


def naive(sketch, risk, _):
    """The lowest threshold whose counts look safe."""
    sample = BinnedSample(sketch.counts())
    safe = sample.ends[sample.totals_at_ends <= risk * sample.ends]
    if not len(safe):
        raise NoSafeThresholdError("none")
    return type("Found", (), {"value": sample.below(int(safe[-1]))})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("law", LAWS)
def test_a_threshold_between_bins_keeps_its_guarantee(law, method):
    result, violated = simulate(LAWS[law], METHODS[method])
    assert violated <= 0.1 + 3 * sqrt(0.1 * 0.9 / 300)
    assert law == "flat" or result > 0.5


@pytest.mark.parametrize("law", ["rising", "flat"])
def test_the_naive_rule_breaks_it(law):
    assert simulate(LAWS[law], naive, trials=100)[1] > 0.3


def test_many_rows_are_tested_by_bins_alone(monkeypatch):
    confidence, errors = draw(6000, 3)
    counts = Sketch.of(confidence, errors).counts()
    by_rows = of_sketch.target_risk(counts, risk=0.05)
    monkeypatch.setattr(of_sketch, "MOST", 3000)
    by_bins = of_sketch.target_risk(counts, risk=0.05)
    assert by_bins.method == "bonferroni"
    assert 0.6 * by_rows.accepted < by_bins.accepted < by_rows.accepted
    assert errors[confidence > by_bins.value].sum() == by_bins.errors
    with pytest.raises(ValueError, match="be one of bonferroni for a sketch of more than 3,000 rows"):
        of_sketch.target_risk(counts, risk=0.05, method="step_down")
    with pytest.raises(NoSafeThresholdError, match=r"No threshold certifies risk <= 0\.0001 .* on n=6,000") as info:
        of_sketch.target_risk(counts, risk=0.0001)
    assert f"Achievable: risk {info.value.lowest_risk:g}" in str(info.value.explained())
    assert of_sketch.target_risk(counts, risk=info.value.lowest_risk).accepted


def test_bins_chosen_on_the_rows_are_tested_whole():
    confidence, errors = draw(3000, 4)
    sketch = coarsened(Sketch.of(confidence, errors), minimum=20)
    assert of_sketch.target_risk(sketch.counts(), risk=0.06).method == "bonferroni"
    with pytest.raises(ValueError, match="or with bins chosen on its rows"):
        of_sketch.target_risk(sketch.counts(), risk=0.06, method="step_down")


def test_a_sample_with_several_rows_has_no_guarantee_and_it_says_so():
    confidence, errors = draw(3000, 4)
    counts = Sketch.of(confidence, errors, ids=np.arange(3000) // 3).counts()
    threshold = of_sketch.target_risk(counts, risk=0.06)
    assert not threshold.guarantee.proved
    assert "no finite-sample guarantee, since rows of the same sample count as if independent" in str(
        threshold.guarantee
    )


def test_a_coverage_that_cannot_be_kept_is_told():
    counts = Sketch.of([0.9, 0.8, np.nan, np.nan], [0, 0, 1, 1]).counts()
    with pytest.raises(NoSafeThresholdError, match="2 of which are not finite and never accepted"):
        of_sketch.target_coverage(counts, coverage=0.6)
    with pytest.raises(NoSafeThresholdError, match="Calibrate on at least"):
        of_sketch.target_coverage(counts, coverage=0.9, delta=0.05)


@pytest.mark.parametrize(("n", "coverage", "delta"), [(200, 0.8, 0.05), (10, 0.9, 0.05), (1, 0.5, 0.1), (57, 0.3, 0.2)])
def test_the_rank_for_a_coverage_is_the_first_that_keeps_it(n, coverage, delta):
    from scipy.stats import beta

    kept = [k for k in range(1, n + 1) if beta.ppf(delta, k, n + 1 - k) >= coverage]
    assert rank_for_coverage(n, coverage, delta) == (kept[0] if kept else n + 1)
