import numpy as np
import pytest

from abstain import Outputs, calibrate
from abstain.monitor.row import SOURCES, Row, read_rows, supplied, unused
from abstain.monitor.stream import batches


def test_texts_and_values_are_the_same_row():
    text = Row.of({"id": "7", "accepted": "true", "confidence": "0.5", "error": "0"})
    assert text == Row.of({"id": 7, "accepted": True, "confidence": 0.5, "error": False})
    assert text == Row.of({"id": 7.0, "accepted": 1, "confidence": 0.5, "correct": 1.0})
    assert Row.of({"id": "", "accepted": None, "confidence": ""}) == Row()


def test_a_label_needs_a_prediction():
    assert supplied(["label"]) == set()
    assert supplied(["label", "prediction", "accepted"]) == {"error", "accepted"}


def test_columns_that_nobody_reads_are_named_once():
    assert unused(["id", "city", "error", "confidence", "city"], ["error", "accepted"]) == ["city", "confidence"]


def test_an_error_names_the_row():
    with pytest.raises(ValueError, match="Row 12: `confidence` must be a number or empty, got 'high'"):
        read_rows([{"confidence": 1}, {"confidence": "high"}], start=11)


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
    assert Row.of(batch[0]) == Row(accepted=True, confidence=0.5, error=False)


def test_capitals_in_a_parquet_file_do_not_matter(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"Confidence": [0.5], "Accepted": [True], "ERROR": [False]}).write_parquet(tmp_path / "d.parquet")
    (batch,) = batches(str(tmp_path / "d.parquet"), {"error"})
    assert Row.of(batch[0]) == Row(accepted=True, confidence=0.5, error=False)
