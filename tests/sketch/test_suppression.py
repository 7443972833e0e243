"""No count of few rows is left, and brackets stay valid."""

import numpy as np
import pytest

from abstain.evaluation import sketch_outputs
from abstain.metrics import aurc
from abstain.scores import confidence_margin
from abstain.sketch import Bins, Sketch
from abstain.sketch.suppression import coarsened


@pytest.mark.parametrize("minimum", [1, 5, 40, 300])
@pytest.mark.parametrize("bins", [Bins(20), Bins(32), Bins(10)])
def test_every_count_is_large_enough_and_the_bracket_holds(outputs, minimum, bins):
    sketch = sketch_outputs(outputs, scores=["confidence_margin"], by=("shift", "domain"), bins=bins)
    small = sketch_outputs(outputs, scores=["confidence_margin"], by=("shift",), bins=bins)
    for each in (sketch, small) if minimum < 100 else (small,):
        result = coarsened(each, minimum=minimum)
        assert result.cells["confidence_margin"].counts.min() >= minimum
        assert (result.n, result.n_errors, result.strata) == (each.n, each.n_errors, each.strata)
        value = aurc(confidence_margin(outputs.logits), outputs.errors)
        assert result.counts().aurc().contains(value)


def test_rows_that_are_never_accepted_take_others_along():
    confidence = np.append(np.arange(1.0, 101), [np.nan, -np.inf])
    sketch = coarsened(Sketch.of(confidence, np.zeros(102)), minimum=10)
    counts = sketch.counts()
    assert counts.bins[-1] == 0
    assert counts.counts[-1] >= 10
    assert Sketch.of(np.array([1.0, 100.0]), [0, 0], bins=sketch.plan.scores["confidence"].bins).counts().bins[-1] == 0


def test_never_accepted_rows_that_are_many_stay_by_themselves():
    confidence = np.append(np.arange(1.0, 101), np.full(20, np.nan))
    bins = coarsened(Sketch.of(confidence, np.zeros(120)), minimum=10).plan.scores["confidence"].bins
    assert Sketch.of([-1e30], [0], bins=bins).counts().bins[0] == 1


def test_the_same_rows_are_joined_alike(outputs, tmp_path):
    for name in ("a", "b"):
        coarsened(sketch_outputs(outputs), minimum=20).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_others_counted_in_the_same_bins_merge(outputs, more_outputs):
    coarse = coarsened(sketch_outputs(outputs, scores=["energy"]), minimum=30)
    both = coarse + Sketch.of_outputs(coarse.plan, more_outputs)
    assert both.n == len(outputs) + len(more_outputs)
    assert both.fitted_bins == {"energy"}


def test_what_cannot_be_is_told(outputs):
    with pytest.raises(ValueError, match="at most the size of the smallest population, 592, got 600"):
        coarsened(sketch_outputs(outputs, scores=["energy"]), minimum=600)
    with pytest.raises(ValueError, match="`minimum` must be an integer"):
        coarsened(Sketch.of([0.5], [1]), minimum=0)
    with pytest.raises(ValueError, match="must count independent rows"):
        coarsened(Sketch.of([0.5, 0.4], [1, 0], ids=[1, 2]), minimum=1)
    with pytest.raises(ValueError, match="must leave rows that can be accepted"):
        coarsened(Sketch.of([0.5, np.nan], [1, 0]), minimum=2)


def test_finite_rows_joined_with_those_never_accepted_may_still_be_covered():
    confidence = np.array([9.0, 8, 7, 6, 5, 4, 3, 2, 1, 0.5, np.nan])
    errors = np.isnan(confidence)
    bracket = coarsened(Sketch.of(confidence, errors), minimum=5).counts().coverage_at_risk(0.05)
    assert bracket.low <= 10 / 11 <= bracket.high
