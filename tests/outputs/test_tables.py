"""Tables that people have: logits, probabilities or confidences, in columns or in lists."""

import numpy as np
import polars as pl
import pytest

from abstain import Outputs

Z = np.random.default_rng(0).normal(size=(6, 3))
P = np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)
LABELS = [0, 1, 2, -1, 0, 1]


def write(frame, position):
    position.parent.mkdir(exist_ok=True)
    frame.write_csv(position) if position.suffix == ".csv" else frame.write_parquet(position)
    return Outputs.load(position)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_logits_in_columns(ending, tmp_path):
    columns = {f"logit_{j}": Z[:, j] for j in (2, 0, 1)}  # in any order
    frame = pl.DataFrame(columns | {"label": LABELS, "id": list("abcdef"), "note": ["x"] * 6})
    result = write(frame, tmp_path / f"t{ending}")
    np.testing.assert_array_equal(result.logits, Z)
    assert result.labels.tolist() == LABELS
    assert result.ids.tolist() == list("abcdef")
    assert result.class_names is None


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_probabilities_in_named_columns_and_labels_by_name(ending, tmp_path):
    columns = {f"proba_{name}": P[:, j] for j, name in enumerate(("cat", "dog", "emu"))}
    frame = pl.DataFrame(columns | {"label": ["cat", "dog", "emu", "yak", "cat", "dog"]})
    result = write(frame, tmp_path / f"t{ending}")
    assert result.class_names == ("cat", "dog", "emu")
    assert result.labels.tolist() == LABELS
    assert result.are_log_probabilities
    np.testing.assert_allclose(np.exp(result.logits), P)


def test_lists_in_parquet_keep_their_type(tmp_path):
    frame = pl.DataFrame(
        {"logits": Z.astype(np.float32).tolist(), "features": P.tolist(), "label": LABELS},
        schema={"logits": pl.List(pl.Float32), "features": pl.List(pl.Float64), "label": pl.Int64},
    )
    result = write(frame, tmp_path / "t.parquet")
    assert result.logits.dtype == np.float32
    np.testing.assert_array_equal(result.logits, Z.astype(np.float32))
    np.testing.assert_array_equal(result.features, P)


def test_several_confidences_and_answers_by_name(tmp_path):
    frame = pl.DataFrame(
        {
            "confidence_judge": Z[:, 0],
            "confidence_vendor": Z[:, 1],
            "label": list("aabbcc"),
            "prediction": list("abbbcc"),
        }
    )
    result = write(frame, tmp_path / "t.csv")
    assert result.confidence_names == ("confidence_judge", "confidence_vendor")
    assert result.errors.tolist() == [False, True, False, False, False, False]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"score": Z[:, 0]}, "must have a column confidence, or columns logit_… or proba_…, got score"),
        ({"logit_0": Z[:, 0], "logit_2": Z[:, 1]}, "must have columns logit_0 to logit_1, got logit_0, logit_2"),
        ({"logit_a": Z[:, 0], "logit_b": Z[:, 1], "label": list("cccccc")}, "labels among the classes a, b, got 'c'"),
        (
            {"logit_a": Z[:, 0], "logit_b": Z[:, 1], "label": ["a", "-1", "x", "1", "b", "0"]},
            "class names in column label as its columns do, a, b, got the number 1 in row 4. Write class names",
        ),
        (
            {"logit_0": Z[:, 0], "logit_1": ["1", "2", "x", "4", "5", "6"]},
            "numbers in column logit_1, got 'x' in row 3",
        ),
        ({"proba_0": P[:, 0], "proba_1": P[:, 1]}, r"in row 1 of .*t\.csv .6 of 6 rows."),
        (
            {"logit_0": Z[:, 0], "logit_1": Z[:, 1], "label": [0.0, 1, 0.5, 1, 0, 1]},
            "class numbers in column label, got",
        ),
        ({"confidence": Z[:, 0], "correct": [1] * 6, "error": [0] * 6}, "a column correct or a column error, got both"),
    ],
)
def test_what_is_wrong_in_a_table_is_named(columns, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write(pl.DataFrame(columns), tmp_path / "t.csv")


def test_lists_of_other_lengths_are_named(tmp_path):
    with pytest.raises(ValueError, match="lists of one length in column logits, got another in row 2"):
        write(pl.DataFrame({"logits": [[1.0, 2.0], [1.0], [2.0, 3.0]]}), tmp_path / "t.parquet")
    frame = pl.DataFrame({"logits": [[1.0, 2.0]], "logit_0": [1.0]})
    with pytest.raises(ValueError, match="a column logits or columns logit_…, got both"):
        write(frame, tmp_path / "t.parquet")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_class_is_the_same_however_its_number_is_written(ending, tmp_path):
    columns = {"confidence": [0.9, 0.8, 0.7], "label": [3.0, 1.0, 2.0], "prediction": [3, 1, 0]}
    assert write(pl.DataFrame(columns), tmp_path / f"t{ending}").errors.tolist() == [False, False, True]
    (tmp_path / "s.csv").write_text("label, prediction, confidence\ncat, cat, 0.9\ndog, cat, 0.8\n")
    assert Outputs.load(tmp_path / "s.csv").errors.tolist() == [False, True]
    odd = pl.DataFrame({"confidence": [0.5], "label": [[1, 2]], "prediction": [1]})
    with pytest.raises(ValueError, match="strings without NUL in column label, got a list in row 1"):
        write(odd, tmp_path / "t.parquet")
    array = pl.DataFrame({"logits": pl.Series([[1e300] * 32], dtype=pl.Array(pl.Float64, 32))})
    assert write(array, tmp_path / "a.parquet").logits.dtype == np.float64


@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_decimal_comma_is_refused_by_name(tmp_path, sign):
    file = tmp_path / "t.csv"
    file.write_text(f"confidence{sign}correct\n0.5{sign}1\n0,93{sign}0\n")
    with pytest.raises(ValueError, match=r"column confidence, got '0,93' in row 2, a decimal comma\. Write a point"):
        Outputs.load(file)


def test_truth_values_are_the_same_groups_and_classes_however_they_are_written(tmp_path):
    frame = pl.DataFrame({"confidence": [0.1, 0.2], "correct": [1, 0], "group": [True, False]})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "polars.csv")
    frame.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    result = [Outputs.load(tmp_path / name).domain.tolist() for name in ("t.parquet", "polars.csv", "pandas.csv")]
    assert result == [["True", "False"]] * 3
    given = Outputs(confidences={"confidence": [0.1, 0.2]}, errors=[0, 1], domain=[True, False])
    assert given.domain.tolist() == ["True", "False"]
    (tmp_path / "classes.csv").write_text("logit_false,logit_true,label\n2,0,True\n0,2,true\n")
    assert Outputs.load(tmp_path / "classes.csv").labels.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "logit_0,logit_1,label\n1,2,0\n1,nan,1\n",
            r"got nan in 1 of 2 rows, first in row 2 of .*t\.csv\. Fix or drop",
        ),
        ("logit_0,logit_1,label\n1,2,0\n1,3,7\n", r"got 7 in row 2 of .*t\.csv\. Use a negative label"),
        ("proba_0,proba_1\n0.5,0.9\n", r"a sum of 1\.4 in row 1 of .*t\.csv \(1 of 1 rows\)"),
    ],
)
def test_rows_of_a_table_count_from_one_and_name_the_file(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        Outputs.load(tmp_path / "t.csv")
