"""Evaluation and calibration from counts, beside those from outputs."""

import numpy as np
import pytest

import abstain
from abstain import Risk
from abstain.evaluation import evaluate_sketch, sketch_outputs, summarize
from abstain.selector import Selector, calibrate_sketch
from abstain.sketch import Bins, Sketch

SCORES = ["confidence_margin", "energy", "max_softmax"]


@pytest.fixture(scope="module")
def tables(outputs):
    sketch = sketch_outputs(outputs, scores=SCORES, by=("shift", "domain"))
    return evaluate_sketch(sketch), abstain.evaluate(outputs, scores=SCORES)


def test_the_table_is_that_of_the_outputs_within_brackets(tables):
    ours, theirs = tables
    assert [(row["score"], row["mix"], row["alpha"]) for row in ours.rows] == [
        (row["score"], row["mix"], row["alpha"]) for row in theirs.rows
    ]
    for each, other in zip(ours.rows, theirs.rows, strict=True):
        assert each["lower"] <= other["aurc"] <= each["upper"]
        assert (each["n"], each["errors"]) == (other["n"], other["errors"])
        assert each["se"] == pytest.approx(other["se"], rel=1e-2)


def test_differences_are_paired_as_those_of_the_outputs(tables):
    ours, theirs = tables
    for key in ours.behind.keys() & theirs.behind.keys():
        assert ours.behind[key].se == pytest.approx(theirs.behind[key].se, rel=0.6)
        assert ours.behind[key].difference == pytest.approx(theirs.behind[key].difference, abs=2e-3)


def test_it_is_summarized_like_any_other(tables):
    summary = summarize(tables[0])
    assert summary.verdict.score in SCORES
    assert "Counts of 3,000 rows in bins" in " ".join(summary.remarks())
    assert tables[0].to_dict()["rows"][-1]["upper"] > 0
    assert "best over in+label" in repr(tables[0])


def test_its_document_has_the_keys_of_any_other(tables):
    ours, theirs = tables
    assert ours.to_dict().keys() == theirs.to_dict().keys()


@pytest.mark.parametrize("index", [0, 1])
def test_a_score_that_is_not_there_is_named(tables, index):
    with pytest.raises(KeyError, match="No row has score 'knn', mix 'in' and alpha 1"):
        tables[index].row("knn", "in", 1.0)


def test_a_domain_or_a_class_can_be_looked_at_alone(outputs):
    sketch = sketch_outputs(outputs, scores=["energy"], by=("shift", "domain", "class"))
    assert evaluate_sketch(sketch, domain=["fog"]).rows[-1]["n"] == (outputs.domain == "fog").sum()
    assert evaluate_sketch(sketch, classes=["2"]).rows[-1]["n"] == (outputs.predictions == 2).sum()


def test_a_sketch_without_parts_compares_as_if_of_other_rows(outputs):
    from abstain.sketch.suppression import coarsened

    evaluation = evaluate_sketch(coarsened(sketch_outputs(outputs, scores=SCORES), minimum=2))
    assert any("as if of different rows" in note for note in evaluation.notes)


def test_an_exact_sketch_says_so():
    given = abstain.Outputs(confidences={"c": np.arange(50) % 7}, errors=np.arange(50) % 3 == 0)
    assert "AURC is exact" in evaluate_sketch(sketch_outputs(given, bins=Bins(32))).notes[0]


@pytest.mark.parametrize(("bits", "is_wide"), [(16, False), (9, True)])
def test_a_bracket_is_called_wide_only_where_a_table_would_show_it(bits, is_wide):
    errors = np.arange(10_000) < 2  # at the least trusted rows, so that AURC is tiny
    given = abstain.Outputs(confidences={"vendor": np.linspace(0.5, 0.9, 10_000)}, errors=errors)
    evaluation = evaluate_sketch(sketch_outputs(given, bins=Bins(bits)))
    assert max((row["upper"] - row["lower"]) / row["upper"] for row in evaluation.rows if row["upper"]) > 0.9
    assert any("That of vendor is wide: count" in note for note in evaluation.notes) == is_wide


def test_a_selector_of_a_sketch_is_that_of_the_rows(outputs, tmp_path):
    sketch = sketch_outputs(outputs, scores=["confidence_margin"])
    ours = calibrate_sketch(sketch, risk=0.3, delta=0.1)
    theirs = abstain.calibrate(outputs, risk=0.3, delta=0.1)
    assert ours.threshold.accepted == pytest.approx(theirs.threshold.accepted, rel=0.02)
    assert ours.accepts(outputs).sum() == ours.threshold.accepted
    assert str(ours.threshold.guarantee) == str(theirs.threshold.guarantee)
    ours.save(tmp_path / "s.abstain")
    assert Selector.load(tmp_path / "s.abstain").threshold == ours.threshold


def test_a_fitted_score_comes_out_of_the_file_ready_to_use(outputs, tmp_path):
    sketch_outputs(outputs, scores=["ts_max_softmax"]).save(tmp_path / "a.sketch")
    selector = calibrate_sketch(Sketch.load(tmp_path / "a.sketch"), coverage=0.7)
    assert selector.accepts(outputs).mean() == pytest.approx(0.7, abs=0.05)


def test_every_domain_and_every_class_can_have_a_threshold(outputs):
    sketch = sketch_outputs(outputs, scores=["confidence_margin"], by=("domain", "class"))
    for per in ("domain", "class"):
        ours = calibrate_sketch(sketch, Risk(0.3, per=per))
        theirs = abstain.calibrate(outputs, Risk(0.3, per=per))
        for name, threshold in theirs.groups.thresholds.items():
            result = ours.groups.thresholds[name]
            assert result.accepted == pytest.approx(threshold.accepted, rel=0.1)
            assert str(result.guarantee) == str(threshold.guarantee)


def test_a_monitor_of_a_sketch_s_selector_watches_what_it_can(outputs):
    coarse = calibrate_sketch(sketch_outputs(outputs, scores=["energy"]), coverage=0.7)
    assert coarse.distribution.weights == (3001,)
    from abstain.monitor.scores import ScoreMonitor

    watched = ScoreMonitor(coarse.distribution).observe(np.full(500, -100.0))
    assert not watched.alarm


def test_what_counts_cannot_do_is_told(outputs):
    sketch = sketch_outputs(outputs, scores=SCORES)
    with pytest.raises(
        ValueError, match="`score` must name one of energy, max_softmax, as the default, confidence_margin"
    ):
        calibrate_sketch(sketch_outputs(outputs, scores=["energy", "max_softmax"]), risk=0.1)
    with pytest.raises(
        ValueError, match=r"must be calibrated for a risk or a coverage, got RiskAndCoverage\(0.1, 0.5\)"
    ):
        calibrate_sketch(sketch, score="energy", risk=0.1, coverage=0.5)
    with pytest.raises(ValueError, match="`method` must be one of group_thresholds, got 'sgr'"):
        calibrate_sketch(sketch, Risk(0.1, per="domain", method="sgr"), score="energy")
    with pytest.raises(ValueError, match=r"`by` must be what the sketch counts separately, .* got domain"):
        calibrate_sketch(sketch, Risk(0.1, per="domain"), score="energy")
    with pytest.raises(ValueError, match="`outputs` must have labels"):
        sketch_outputs(abstain.Outputs(logits=outputs.logits))


def with_ids(outputs, copies=1):
    ids = np.arange(len(outputs)) // copies
    return abstain.Outputs(logits=outputs.logits, labels=outputs.labels, ids=ids)


def test_the_same_images_in_two_sketches_take_the_proof_away(outputs, more_outputs):
    clean, fog = (sketch_outputs(with_ids(each), scores=["energy"]) for each in (outputs, more_outputs))
    guarantee = calibrate_sketch(clean + fog, risk=0.3).threshold.guarantee
    assert not guarantee.proved
    assert "if no id repeats, sketch with `distinct`" in str(guarantee)


def test_a_run_with_copies_and_one_without_merge(outputs, more_outputs):
    clean, copies = (
        sketch_outputs(with_ids(each, n), scores=["energy"]) for each, n in ((outputs, 1), (more_outputs, 4))
    )
    assert (clean + copies).n == 5000


def test_who_says_that_no_id_repeats_keeps_the_proof(outputs):
    sketch = sketch_outputs(with_ids(outputs), scores=["energy"], distinct=True)
    assert calibrate_sketch(sketch, risk=0.3).threshold.guarantee.proved
    assert (sketch + sketch_outputs(outputs, scores=["energy"])).n == 6000
    with pytest.raises(ValueError, match="`outputs` must have distinct ids, got 1500 in 3000 rows"):
        sketch_outputs(with_ids(outputs, 2), scores=["energy"], distinct=True)
    with pytest.raises(ValueError, match=r"ids that may repeat .* True and False"):
        sketch_outputs(with_ids(outputs), scores=["energy"]) + sketch
