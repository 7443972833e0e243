"""Counts add up, and are the rows' own where every bit is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain.evaluation import sketch_outputs
from abstain.metrics import augrc, aurc, aurc_estimates, ood_auroc, risk_at_coverage
from abstain.scores.registry import SCORES
from abstain.sketch import Bins, Plan, Sketch, Tally, merge

FULL = Bins(32)


def same(a, b):
    """Whether two sketches hold the same counts."""
    fields = ("slots", "counts", "errors")
    return a.strata == b.strata and all(
        np.array_equal(getattr(a.cells[name], field), getattr(b.cells[name], field))
        for name in a.scores
        for field in fields
    )


def tied_rows(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n).round(2).astype(np.float32), rng.random(n) < 0.2


@pytest.mark.parametrize("n", [1, 2, 50, 30_000])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_with_every_bit_all_is_that_of_the_rows_to_the_last_bit(n, kind):
    confidence, errors = tied_rows(n, n)
    confidence = confidence.astype(kind)
    counts = Sketch.of(confidence, errors, bins=FULL).counts()
    for alpha in (0.1, 0.37, 1.0):
        area = counts.aurc(alpha)
        assert area.low == area.point == area.high == aurc(confidence, errors, alpha=alpha)
        assert counts.risk_at_coverage(alpha).point == risk_at_coverage(confidence, errors, coverage=alpha)
    assert counts.augrc().point == augrc(confidence, errors)
    if 0 < errors.sum() < n:
        assert counts.auroc().point == ood_auroc(confidence[~errors], confidence[errors])
        ours, theirs = counts.estimates([0.1, 1.0]), aurc_estimates(confidence, errors, alphas=[0.1, 1.0])
        assert [(each.value, each.se, each.low, each.high) for each in ours] == [
            (each.value, each.se, each.low, each.high) for each in theirs
        ]


def test_confidences_of_more_bits_than_a_float32_keep_an_open_bracket():
    confidence = 1.0 + 1e-12 * np.arange(6.0)
    errors = np.array([1, 0, 1, 0, 0, 0])
    result = Sketch.of(confidence, errors, bins=FULL).counts().aurc()
    assert result.low < result.high
    assert result.contains(aurc(confidence, errors))


def test_what_is_never_accepted_is_the_least_trusted_of_all():
    confidence, errors = np.array([np.nan, -np.inf, -3.4e38, -1e300, 0.0]), np.array([1, 1, 0, 1, 0])
    counts = Sketch.of(confidence, errors).counts()
    assert counts.bins[-1] == 0
    assert counts.counts[-1] == 2
    assert (counts.bins[:-1] > 0).all()


parts = st.lists(
    st.lists(st.tuples(st.floats(-5, 5, width=32), st.booleans(), st.integers(0, 9)), min_size=1, max_size=20),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(parts, st.randoms(use_true_random=False))
def test_any_batches_in_any_order_give_the_same_sketch(some, random):
    def sketched(rows):
        c, e, ids = (np.array(column) for column in zip(*rows, strict=True))
        return Sketch.of(c, e, ids=ids)

    whole = sketched([row for part in some for row in part])
    shuffled = list(some)
    random.shuffle(shuffled)
    result = [sketched(part) for part in shuffled]
    assert same(merge(result), whole)
    left = result[0]
    for part in result[1:]:
        left = part + left
    assert same(left, whole)


def test_nothing_adds_nothing(outputs):
    sketch = sketch_outputs(outputs, scores=["confidence_margin"])
    assert same(sketch + Sketch.empty(sketch.plan), sketch)


def test_batches_of_outputs_add_up_whatever_their_size(outputs):
    fitted = {name: (SCORES[name], SCORES[name]) for name in ("confidence_margin", "energy")}
    plan = Plan.of(fitted, outputs, by=("shift", "domain"))
    whole = Sketch.of_outputs(plan, outputs)
    for step in (700, 1):
        tally, rows = Tally(plan), range(0, 3000 if step > 1 else 60, step)
        for start in rows:
            some = slice(start, start + step)
            tally.update(outputs[some], numbers=np.arange(3000)[some])
        expected = whole if step > 1 else Sketch.of_outputs(plan, outputs[:60])
        assert same(tally.sketch(), expected)


def test_a_population_has_its_own_rows(outputs):
    sketch = sketch_outputs(outputs, scores=["confidence_margin"], by=("shift", "domain", "class"), bins=FULL)
    from abstain.scores import confidence_margin

    confidence = confidence_margin(outputs.logits)
    for by, names in {
        "shift": outputs.shift,
        "domain": outputs.domain,
        "class": outputs.predictions.astype(str),
    }.items():
        for name in sketch.names(by):
            counts, rows = sketch.counts(**{by: [name]}), names == name
            assert (counts.n, counts.n_errors) == (rows.sum(), outputs.errors[rows].sum())
            assert counts.aurc().contains(aurc(confidence[rows], outputs.errors[rows]))
    both = sketch.counts(shift=["none"], domain=["fog"])
    assert both.n == ((outputs.shift == "none") & (outputs.domain == "fog")).sum()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda o: sketch_outputs(o, scores=["energy"]), "the scores confidence_margin and energy"),
        (
            lambda o: sketch_outputs(o, scores=["confidence_margin"], bins=Bins(18)),
            "confidence_margin in 20 bits and 18",
        ),
        (lambda o: sketch_outputs(o, scores=["confidence_margin"], bins=8), "in 20 bits and 8 edges"),
        (
            lambda o: sketch_outputs(o, scores=["confidence_margin"], by=("domain",)),
            r"rows counted separately by \('shift',\)",
        ),
    ],
)
def test_what_differs_is_not_merged_and_is_named(change, words, outputs):
    with pytest.raises(ValueError, match=words):
        sketch_outputs(outputs, scores=["confidence_margin"]) + change(outputs)


def test_scores_fitted_on_other_rows_are_not_merged(outputs, more_outputs):
    scores = ["ts_max_softmax"]
    with pytest.raises(ValueError, match="ts_max_softmax fitted differently"):
        sketch_outputs(outputs, scores=scores) + sketch_outputs(more_outputs, scores=scores)


def test_scores_of_other_last_layers_are_not_merged():
    from abstain.outputs import Outputs

    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(300, 4)), rng.integers(3, size=300)
    heads = [rng.normal(size=(3, 4)) for _ in range(2)]
    runs = [Outputs(logits=x @ head.T, labels=labels, features=x, weight=head) for head in heads]
    a, b = (sketch_outputs(run, scores=["geometric_margin"]) for run in runs)
    with pytest.raises(ValueError, match="last layers: "):
        a + b
    with pytest.raises(ValueError, match="must have the last layer of the plan"):
        Sketch.of_outputs(a.plan, runs[1])


def test_edges_that_differ_are_told(outputs, more_outputs):
    a, b = (sketch_outputs(each, scores=["energy"], bins=50) for each in (outputs, more_outputs))
    with pytest.raises(ValueError, match="50 edges and 50 edges that are not the same"):
        a + b


@pytest.mark.parametrize("bits", [8, 33, 20.0, None])
def test_bits_are_checked(bits):
    with pytest.raises(ValueError, match=r"`bits` must be|`bins` must have"):
        Bins(bits)


def test_messages_name_the_next_step(outputs):
    sketch = sketch_outputs(outputs, scores=["energy", "max_logit"])
    with pytest.raises(ValueError, match="`score` must be one of energy, max_logit, got None"):
        sketch.counts()
    with pytest.raises(ValueError, match=r"`by` must be what the sketch counts separately, .* got domain"):
        sketch.counts("energy", domain=["fog"])
    with pytest.raises(ValueError, match="`counts` must have rows, got none"):
        sketch.counts("energy", shift=["covariate"])
    with pytest.raises(ValueError, match="`errors` must be 0 or 1"):
        Sketch.of([0.5], [0.5])
    with pytest.raises(ValueError, match=r"`confidence` must be numbers of shape \(1,\)"):
        Sketch.of([0.5, 0.4], [1])


@pytest.mark.parametrize("ids", [["a"], np.arange(10)])
def test_ids_are_as_many_as_the_rows(ids):
    with pytest.raises(ValueError, match="`ids` must have one entry for each of 2 rows"):
        Sketch.of([0.1, 0.2], [0, 1], ids=ids)
