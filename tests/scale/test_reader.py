"""Rows of Parquet files as outputs: the same in any form, and errors that name file and row."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from abstain import Outputs
from abstain.outputs import arrays
from abstain.scale import reader as reading
from abstain.scale.data import ParquetData
from abstain.scale.reader import ParquetReader
from abstain.scale.sketch import sketch


def read(path, **options):
    data = ParquetData.open(path)
    reader = ParquetReader.of(data, **{"nonfinite": "error"} | options)
    return [batch for portion in data.portions() for batch in reader.batches(portion)]


def rewrite(file, change):
    frame = pl.read_parquet(file).to_arrow()
    pq.write_table(change(frame), file, row_group_size=7)


def with_logit(file, row, value):
    z = np.stack(pl.read_parquet(file)["logits"].to_numpy()).copy()
    z[row, 1] = value
    rewrite(file, lambda frame: frame.set_column(0, "logits", pa.array(list(z), pa.list_(pa.float32()))))


def test_batches_are_the_rows_in_order_whatever_their_size(shards, make_table, monkeypatch):
    whole = make_table(100)
    for elements in (5, 40, 10_000):
        monkeypatch.setattr(reading, "ELEMENTS", elements)
        batches = read(shards)
        assert max(len(batch.outputs) for batch in batches) <= max(1, elements // 5)
        assert np.concatenate([batch.numbers for batch in batches]).tolist() == list(range(100))
        logits = np.concatenate([batch.outputs.logits for batch in batches])
        np.testing.assert_array_equal(logits.ravel(), whole["logits"].combine_chunks().flatten().to_numpy())
        assert np.concatenate([batch.outputs.shift for batch in batches]).tolist() == whole["shift"].to_pylist()


def test_named_classes_have_the_order_of_the_first_file_as_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    names, z = ["zebra", "cat", "ant"], rng.normal(size=(40, 3))
    labels = [names[k] for k in rng.integers(3, size=40)]
    for number, order in enumerate(([0, 1, 2], [2, 0, 1])):
        some = slice(20 * number, 20 * number + 20)
        columns = {f"logit_{names[k]}": z[some, k] for k in order} | {"label": labels[some]}
        pq.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    batches, known = read(tmp_path), Outputs.load(tmp_path / "0.parquet")
    assert known.class_names == ("zebra", "cat", "ant")
    assert all(batch.outputs.class_names == known.class_names for batch in batches)
    np.testing.assert_array_equal(np.concatenate([batch.outputs.logits for batch in batches]), z)
    result = np.concatenate([batch.outputs.labels for batch in batches])
    assert [names[label] for label in result] == labels


def test_lists_and_plain_columns_are_read_as_the_table_reader_does(tmp_path):
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(9, 3)), rng.integers(-1, 3, size=9)
    forms = {
        "fixed": {"logits": pa.FixedSizeListArray.from_arrays(pa.array(z.ravel()), 3)},
        "lists": {"logits": pa.array(list(z))},
        "plain": {f"logit_{j}": z[:, j] for j in (2, 0, 1)},
    }
    for name, columns in forms.items():
        pq.write_table(pa.table(columns | {"label": labels, "note": ["x"] * 9}), tmp_path / f"{name}.parquet")
        (batch,) = read(tmp_path / f"{name}.parquet")
        known = Outputs.load(tmp_path / f"{name}.parquet")
        np.testing.assert_array_equal(batch.outputs.logits, known.logits)
        np.testing.assert_array_equal(batch.outputs.logits, z)
        assert batch.outputs.labels.tolist() == known.labels.tolist() == labels.tolist()


def test_a_shard_without_rows_is_passed_over_and_nothing_but_such_is_refused(shards, make_table):
    pq.write_table(make_table(100).slice(0, 0), shards / "000.parquet")
    assert sum(len(batch.outputs) for batch in read(shards)) == 70
    with pytest.raises(ValueError, match=r"000.parquet` must have at least one row in some file, got none"):
        read(shards / "000.parquet")


def test_a_nan_is_refused_with_file_and_row_or_kept_as_rejected(tmp_path, make_table, write_shards):
    path = write_shards(tmp_path / "data", make_table(200), [10] * 20)
    with_logit(path / "017.parquet", 6, np.nan)
    with pytest.raises(ValueError, match=r"017.parquet` must hold finite numbers, got NaN or infinity in row 7\. Fix"):
        read(path)
    usable = np.concatenate([batch.outputs.usable for batch in read(path, nonfinite="reject")])
    assert np.flatnonzero(~usable).tolist() == [176]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda t: t.drop_columns("label"),
            r"002.parquet` must have the columns of .*000.parquet, got none called label",
        ),
        (
            lambda t: t.append_column("domain", t["shift"]),
            r"002.parquet` must have the columns of .*000.parquet, got also domain",
        ),
        (
            lambda t: t.set_column(1, "label", pa.array(t["label"].to_pylist()[:35] + [9] * 5)),
            r"`labels` must be below the number of classes \(5\), got 9 in row 36 of .*002.parquet\. Use a negative",
        ),
        (
            lambda t: t.set_column(1, "label", pa.array([*map(str, t["label"].to_pylist()[:35]), *["cat"] * 5])),
            r"002.parquet` must have numbers in column label, got 'cat' in row 36",
        ),
        (
            lambda t: t.set_column(2, "shift", pa.array([*t["shift"].to_pylist()[:38], "fog", "none"])),
            r"`shift` must be one of none, covariate, label, got 'fog' in row 39 of .*002.parquet",
        ),
        (
            lambda t: t.set_column(2, "shift", pa.array([*t["shift"].to_pylist()[:38], None, "none"])),
            r"002.parquet` must have a value in column shift of every row, got none in row 39",
        ),
        (
            lambda t: t.set_column(0, "logits", pa.array([[1.0, 2.0]] * 40)),
            r"002.parquet` must have 5 classes, as .*000.parquet has, got 2 in row 1",
        ),
        (
            lambda t: t.set_column(0, "logits", pa.array([[1.0] * 5] * 39 + [[1.0]])),
            r"002.parquet` must have lists of one length in column logits, got another in row 40",
        ),
        (
            lambda t: t.set_column(0, "logits", pa.array(["x"] * 40)),
            r"002.parquet` must have lists of one length in column logits",
        ),
    ],
)
def test_a_shard_of_another_form_is_named_with_its_row(shards, change, message, monkeypatch):
    monkeypatch.setattr("abstain.scale.data.PORTION", 1)  # a portion for each row group
    rewrite(shards / "002.parquet", change)
    with pytest.raises(ValueError, match=message):
        read(shards)


def test_a_truncated_and_a_corrupt_shard_are_named(shards):
    file = shards / "002.parquet"
    content = file.read_bytes()
    file.write_bytes(content[:-100])
    with pytest.raises(ValueError, match=r"002.parquet` must be a valid Parquet file, got .* Write it again"):
        read(shards)
    file.write_bytes(b"")
    with pytest.raises(ValueError, match=r"002.parquet` must be a valid Parquet file, got .* Write it again"):
        read(shards)
    start = len(content) // 20
    file.write_bytes(content[:start] + b"\xff" * 300 + content[start + 300 :])
    with pytest.raises(ValueError, match=r"002.parquet` must be a valid Parquet file, got .* in row group"):
        read(shards)


def test_pages_with_checksums_are_verified(tmp_path, make_table):
    file = tmp_path / "a.parquet"
    pq.write_table(make_table(100), file, write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray(file.read_bytes())
    content[500] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"a.parquet` must be a valid Parquet file, got .*(CRC|checksum)"):
        read(file)


def test_random_damage_is_found_or_harmless(tmp_path, make_table):
    file, rng = tmp_path / "a.parquet", np.random.default_rng(0)
    pq.write_table(make_table(40), file, row_group_size=9)
    content = file.read_bytes()
    said = []
    for _ in range(150):
        damaged = bytearray(content)
        damaged[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        try:
            read(file, nonfinite="reject")
        except (ValueError, TypeError) as error:
            said.append(str(error))
    assert len(said) > 20
    assert all(" must " in words for words in said)


def test_a_file_that_changes_while_it_is_read_is_refused(shards, make_table):
    data = ParquetData.open(shards)
    reader = ParquetReader.of(data, nonfinite="error")
    pq.write_table(make_table(12), shards / "000.parquet")
    with pytest.raises(ValueError, match=r"000.parquet` must be"):
        list(reader.batches(data.portions()[0]))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2] * 40, "got the number 0 in row 1. Write class names, or name the columns by numbers"),
        ([*["benign"] * 100, *["2"] * 20], "got the number 2 in row 101. Write class names"),
        (["Benign"] * 120, "must have labels among the classes benign, malignant, unsure, got "),
    ],
)
def test_labels_that_are_none_of_the_named_classes_are_refused_as_in_memory(tmp_path, labels, message):
    z = np.random.default_rng(0).normal(size=(120, 3))
    columns = {f"logit_{name}": z[:, j] for j, name in enumerate(("benign", "malignant", "unsure"))}
    file = tmp_path / "p.parquet"
    pq.write_table(pa.table(columns | {"label": pa.array(labels)}), file, row_group_size=50)
    for reads in (Outputs.load, lambda path: sketch(path, scores="max_softmax")):
        with pytest.raises(ValueError, match=message):
            reads(file)


def test_unknown_classes_may_have_names_or_be_negative(tmp_path):
    labels, z = ["a", "b", "yak", "-1"], np.random.default_rng(0).normal(size=(4, 2))
    file = tmp_path / "p.parquet"
    pq.write_table(pa.table({"logit_a": z[:, 0], "logit_b": z[:, 1], "label": labels}), file)
    (batch,) = read(file)
    assert batch.outputs.labels.tolist() == Outputs.load(file).labels.tolist() == [0, 1, -1, -1]


def test_a_small_file_of_very_many_rows_is_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(arrays, "ALWAYS_EXPANDED", 1 << 20)
    pq.write_table(pa.table({"confidence": np.ones(200_000)}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet` must be .*, got \S+ bytes that would become 1.6 MB, .*again\.$"):
        ParquetData.open(tmp_path)
    pq.write_table(
        pa.table({"confidence": np.ones(200_000)}), tmp_path / "a.parquet", compression="none", use_dictionary=False
    )
    assert ParquetData.open(tmp_path).rows == 200_000


def test_a_footer_that_states_other_rows_than_its_row_groups_have_is_refused(tmp_path):
    file, stated = tmp_path / "a.parquet", b"\x16\x50"  # the third field of the footer: 40 rows, as a varint
    pq.write_table(pa.table({"confidence": np.linspace(0, 1, 40), "correct": [True] * 40}), file)
    content = bytearray(file.read_bytes())
    content[content.index(stated, content.index(b"schema")) + 1] += 2
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"a.parquet` must be .*, got row groups of 40 rows, stated to be 41\."):
        ParquetData.open(tmp_path)
