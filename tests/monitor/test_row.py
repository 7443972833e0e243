import csv

import numpy as np
import pytest

from abstain import Outputs, calibrate
from abstain.errors import InvalidInputError
from abstain.monitor.row import SOURCES, Row, number, supplied, unused
from abstain.monitor.rows import StreamRows
from abstain.monitor.stream import StreamBatch, batches


def row_of(columns, **options):
    """The row that the monitors see in the values of columns."""
    rows = StreamBatch.of_rows([columns]).read(**options)
    codes = [None if each[0] < 0 else bool(each[0]) for each in (rows.accepted, rows.error)]
    confidence = float(rows.confidence[0]) if rows.has_confidence[0] else None
    return Row(codes[0], confidence, codes[1], rows.ids[0], rows.domains[0], rows.predictions[0])


def test_texts_and_values_are_the_same_row():
    text = row_of({"id": "7", "accepted": "true", "confidence": "0.5", "error": "0"})
    assert text == row_of({"id": 7, "accepted": True, "confidence": 0.5, "error": False})
    assert text == row_of({"id": 7.0, "accepted": 1, "confidence": 0.5, "correct": 1.0})
    assert text == row_of({"id": "7.0", "accepted": "yes", "confidence": "5e-1", "error": "no"})
    assert row_of({"id": "", "accepted": None, "confidence": ""}) == Row()


def test_a_label_needs_a_prediction():
    assert supplied(["label"]) == set()
    assert supplied(["label", "prediction", "accepted"]) == {"error", "accepted"}


def test_columns_that_nobody_reads_are_named_once():
    assert unused(["id", "city", "error", "confidence", "city"], ["error", "accepted"]) == ["city", "confidence"]


def test_an_error_names_the_row():
    values = [1, "high"]
    for batch in (
        StreamBatch.of_rows([{"confidence": value} for value in values]),
        StreamBatch.of_columns({"confidence": values}),
    ):
        with pytest.raises(ValueError, match="Row 12: `confidence` must be a number or empty, got 'high'"):
            batch.read(start=11)


@pytest.mark.parametrize(
    "columns",
    [
        {"id": ["7", "7.0", "", " a "], "confidence": ["0.5", "", "nan", "-inf"], "accepted": ["true", "0", "", "YES"]},
        {"id": [7, 7.0, None, "x"], "confidence": [1, None, float("nan"), 2.5], "error": [1.0, 0, None, True]},
        {"label": ["3", 3.0, None, 2], "prediction": [3, "4", 1, 2], "group": ["a", "b", None, "1.0"]},
        {"correct": ["", "1", "0", "false"], "domain": ["x", "", "y", "x"], "prediction": [1, 2, 3, 4]},
    ],
)
def test_columns_are_read_as_rows_are(columns):
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    result, single = StreamBatch.of_columns(columns).read(), StreamRows.of([row_of(row) for row in rows])
    for name in ("accepted", "confidence", "has_confidence", "error"):
        np.testing.assert_array_equal(getattr(result, name), getattr(single, name))
    for name in ("ids", "domains", "predictions"):
        assert list(getattr(result, name)) == list(getattr(single, name))
    np.testing.assert_array_equal(result.keys(), single.keys())
    assert len({name for name in result.ids if name}) == len(set(result.keys().tolist()) - {0})


def test_rows_of_different_columns_keep_their_order():
    rows = [{"id": f"s{k}", **({"error": k % 2} if k % 3 else {"confidence": k, "accepted": 1})} for k in range(20)]
    result = StreamBatch.of_rows(rows).read()
    assert result.ids == [row["id"] for row in rows]
    assert result.error.tolist() == [row.get("error", -1) for row in rows]
    assert result.has_confidence.tolist() == ["confidence" in row for row in rows]


def test_the_first_bad_row_is_named_whichever_column_or_kind_of_row_is_read_first():
    rows = [{"id": f"s{k}", "confidence": k, "accepted": k % 2, "error": [True, None][k % 2]} for k in range(200)]
    rows[7], rows[5] = rows[7] | {"confidence": "high"}, rows[5] | {"error": "maybe"}
    with pytest.raises(ValueError, match=r"Row 6: `accepted`, `error` and `correct` must be .* got 'maybe'"):
        StreamBatch.of_rows(rows).read()
    with pytest.raises(ValueError, match=r"Row 4: .* got 'perhaps'"):
        StreamBatch.of_rows([*rows[:3], {"error": "perhaps"}, *rows[3:]]).read()


def test_every_column_that_a_selector_writes_is_known():
    labels = np.tile([0, 1], 50)
    outputs = Outputs(logits=4 * np.eye(2)[labels], labels=labels, domain="here")
    written = calibrate(outputs, risk=0.2).decide(outputs)
    assert "reason" in written
    assert unused(written, SOURCES) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.csv", "Confidence,ACCEPTED,Error\n0.5,1,0\n"),
        ("d.jsonl", '{"Confidence": 0.5, "ACCEPTED": 1, "Error": 0}\n'),
    ],
)
def test_capitals_in_the_names_of_columns_do_not_matter(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (batch,) = batches(str(tmp_path / name), {"error"})
    result = batch.read(start=1)
    assert [result.accepted[0], result.confidence[0], result.error[0]] == [1, 0.5, 0]


def test_capitals_in_a_parquet_file_do_not_matter(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"Confidence": [0.5], "Accepted": [True], "ERROR": [False]}).write_parquet(tmp_path / "d.parquet")
    (batch,) = batches(str(tmp_path / "d.parquet"), {"error"})
    result = batch.read(start=1)
    assert [result.accepted[0], result.confidence[0], result.error[0]] == [1, 0.5, 0]


@pytest.mark.parametrize("written", ["1_0", "٣", str(2**53 + 1)])
def test_a_number_is_written_as_in_tables(written):
    for batch in (StreamBatch.of_columns({"confidence": [first, written]}) for first in ("0.5", 0.5)):
        with pytest.raises(ValueError, match="Row 2: `confidence` must be a number or empty, got"):
            batch.read(start=1)


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_csv_file_is_read_as_tables_are(tmp_path, sign):
    rows = [["confidence", "note", "error"], ["0.5", "x" * 200_000, "1"]]
    (tmp_path / "d.csv").write_text("".join(sign.join(row) + "\n" for row in rows))
    limit = csv.field_size_limit(131_072)
    try:
        (batch,) = batches(str(tmp_path / "d.csv"), {"error"})
    finally:
        csv.field_size_limit(limit)
    result = batch.read(start=1)
    assert [result.confidence[0], result.error[0]] == [0.5, 1]


def test_a_decimal_comma_is_refused_by_name():
    with pytest.raises(ValueError, match="got '0,93', a decimal comma"):
        number("0,93")


def test_truth_values_name_one_group_however_they_are_written():
    columns = {"confidence": ["0.5"] * 4, "group": ["true", "True", "false", "False"]}
    assert StreamRows.of_columns(columns).domains == ["True", "True", "False", "False"]
    assert [row_of({"group": name}).domain for name in (True, "true", "True")] == ["True"] * 3


def test_a_loss_is_an_error_with_its_probability_and_the_same_for_the_same_id():
    losses = {"loss": ["0.3"] * 4000, "id": [f"a{i}" for i in range(4000)]}
    coins = StreamRows.of_columns(losses).error.tolist()
    assert abs(sum(coins) / 4000 - 0.3) < 4 * (0.21 / 4000) ** 0.5
    assert coins[:50] == [row_of({"loss": 0.3, "id": f"a{i}"}).error for i in range(50)]
    assert [row_of({"loss": value, "id": "b"}).error for value in (0, 1, "")] == [False, True, None]
    with pytest.raises(InvalidInputError, match="`loss` must be a number from 0 to 1 or empty, got"):
        row_of({"loss": "1.5"})


@pytest.mark.parametrize("name", [{}, {"id": ""}, {"id": None}])
def test_a_loss_needs_an_id_unless_it_is_an_error_or_none(name):
    with pytest.raises(InvalidInputError, match=r"`loss` must come with an `id`, got 0\.5 without one"):
        row_of({"loss": "0.5", **name})
    assert [row_of({"loss": value, **name}).error for value in (0, "1", "")] == [False, True, None]


def test_losses_of_rows_that_were_not_drawn_for_an_audit_are_not_read():
    columns = {"review": "queue", "loss": 0.9, "accepted": True, "confidence": 0.9}
    assert row_of(columns).error is None
    with pytest.raises(InvalidInputError, match="`loss` must come with an `id`"):
        row_of(columns | {"review": "audit"})
