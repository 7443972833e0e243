"""Confidences that somebody else computed, from Python and from tables."""

import numpy as np
import pytest

from abstain import Outputs, Selector, calibrate
from abstain._extras import require

RNG = np.random.default_rng(0)
U = RNG.random(1000)
TABLE = Outputs(
    confidences={"vendor": 1 - U, "noise": RNG.random(1000)},
    errors=RNG.random(1000) < 0.3 * U**2,
    ids=np.arange(1000),
    domain=np.where(U < 0.5, "a", "b"),
)


def write(file, lines):
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_it_is_kept_by_select_split_concat_and_files(tmp_path):
    TABLE.save(tmp_path / "run")
    for again in (
        TABLE.select(np.arange(1000)),
        Outputs.load(tmp_path / "run"),
        Outputs.concat([TABLE.select(U < 0.3), TABLE.select(U >= 0.3)]),
    ):
        assert again.confidence_names == ("vendor", "noise")
        assert sorted(again.confidence("vendor")) == sorted(1 - U)
        assert again.errors.sum() == TABLE.errors.sum()
        assert again.n_classes == 0
    assert "vendor, noise, errors" in repr(TABLE)


def test_each_name_is_a_score_and_the_selector_survives_its_file(tmp_path):
    selector = calibrate(TABLE, score="vendor", risk=0.06)
    selector.save(tmp_path / "s.abstain")
    again = Selector.load(tmp_path / "s.abstain")
    np.testing.assert_array_equal(again.accepts(TABLE), selector.accepts(TABLE))
    assert again.score == "vendor"
    with pytest.raises(ValueError, match="must have the confidence 'vendor' that was calibrated, got other"):
        again.accepts(Outputs(confidences={"other": U}))


def test_of_several_names_one_must_be_said_and_the_best_can_be_asked_for():
    with pytest.raises(
        ValueError,
        match="`score` must name one of vendor, noise, as the default, confidence_margin, is not among them",
    ):
        calibrate(TABLE, risk=0.06)
    assert calibrate(TABLE, score="vendor", risk=0.06).score == "vendor"
    best = calibrate(TABLE, score="best", risk=0.1)
    assert best.score == "vendor"
    assert "chosen among 3 scores on other rows" in best.summary()


def test_a_score_of_logits_says_what_is_missing():
    with pytest.raises(ValueError, match="what energy needs, got no logits"):
        calibrate(TABLE, score="energy", risk=0.06)
    with pytest.raises(ValueError, match="`logits` must be given to know the predictions"):
        TABLE.predictions  # noqa: B018


def test_an_empty_confidence_is_never_accepted(tmp_path):
    lines = ["confidence,correct", *(f"{c},1" for c in np.linspace(0, 1, 400)), ",1"]
    outputs = Outputs.load(write(tmp_path / "t.csv", lines), nonfinite="reject")
    accepted = calibrate(outputs, risk=0.05).accepts(outputs)
    assert accepted[:-1].any()
    assert not accepted[-1]
    rule = r"`confidences\['confidence'\]` must not be NaN, got 1 of 401 rows, first row 401 of "
    with pytest.raises(ValueError, match=rule):
        Outputs.load(tmp_path / "t.csv")


@pytest.mark.parametrize("truth", ["correct", "error"])
@pytest.mark.parametrize("words", [("1", "0"), ("true", "false"), ("yes", "no"), ("1.0", "0.0")])
def test_tables_say_right_or_wrong_in_several_ways(truth, words, tmp_path):
    lines = [f"id,confidence,{truth},group", f"x,0.5,{words[0]},a", f"y,0.25,{words[1]},b"]
    outputs = Outputs.load(write(tmp_path / "t.csv", lines))
    assert outputs.errors.tolist() == ([False, True] if truth == "correct" else [True, False])
    assert outputs.ids.tolist() == ["x", "y"]
    assert outputs.domain.tolist() == ["a", "b"]


def test_parquet_tables_are_read_alike(tmp_path):
    polars = require("polars", extra="scale", feature="this test")
    polars.DataFrame({"confidence": [0.5, None], "correct": [True, False], "id": [3, 4]}).write_parquet(
        tmp_path / "t.parquet"
    )
    outputs = Outputs.load(tmp_path / "t.parquet", nonfinite="reject")
    assert outputs.usable.tolist() == [True, False]
    assert outputs.errors.tolist() == [False, True]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a,b", "1,2"], "must have a column confidence, or columns logit_… or proba_…, got a, b"),
        (["confidence"], "must have at least one row"),
        (["confidence,correct", "0.5"], "must have 2 values in each row, got 1 in row 1"),
        (["confidence,correct", "high,1"], "must have numbers in column confidence, got 'high' in row 1"),
        (["confidence,correct", "0.5,1", "0.4,maybe"], "in column correct, got 'maybe' in row 2"),
        (["confidence,correct,error", "0.5,1,0"], "a column correct or a column error, got both"),
        (["confidence,confidence", "0.5,1"], "columns of different names"),
        (['confidence,"correct', "0.5,1"], "must be a table of comma-separated values"),
    ],
)
def test_tables_that_are_not_are_told_where(lines, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        Outputs.load(write(tmp_path / "t.csv", lines))


def test_files_that_are_no_tables_are_told(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"confidence\n\xff\xfe\n")
    with pytest.raises(ValueError, match="in UTF-8"):
        Outputs.load(tmp_path / "t.csv")
    (tmp_path / "t.parquet").write_bytes(b"junk")
    with pytest.raises(ValueError, match="must be a Parquet file"):
        Outputs.load(tmp_path / "t.parquet")
    with pytest.raises(FileNotFoundError, match="must exist"):
        Outputs.load(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "`logits` must be given, or else `probabilities`, or `confidences`"),
        ({"confidences": {}}, "`confidences` must be confidences by name"),
        ({"confidences": {"a": [[1.0]]}}, "must be numbers of shape"),
        ({"confidences": {"a": [1.0], "b": [1.0, 2.0]}}, "of one length"),
        ({"confidences": {"a": [1.0]}, "labels": [0]}, "`labels` must come with `logits`"),
        ({"confidences": {"a": [1.0]}, "errors": [0.5]}, "`errors` must be 1 numbers"),
        ({"logits": [[1.0, 2.0]], "confidences": {"a": [1.0, 2.0]}}, "`confidences` must have 1 rows"),
        ({"logits": [[1.0, 2.0]], "labels": [0], "errors": [1]}, "`errors` must be left out where there are labels"),
    ],
)
def test_what_does_not_fit_is_said(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Outputs(**options)
