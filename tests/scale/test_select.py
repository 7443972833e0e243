"""Decisions on Parquet files, a file for each."""

import fcntl
import os
import sys

import numpy as np
import polars as pl
import pytest

from abstain import Outputs, calibrate
from abstain._io.files import PARTIAL
from abstain.scale import reader as reading
from abstain.scale.engines import Execution
from abstain.scale.select import SelectTask, select


@pytest.fixture(scope="module")
def selector(make_table):
    table = make_table(2000, seed=5)
    outputs = Outputs(logits=np.stack(table["logits"].to_numpy()), labels=table["label"].to_numpy())
    return calibrate(outputs, coverage=0.6)


def test_decisions_are_those_in_memory(shards, selector, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ELEMENTS", 40)
    result = select(selector, shards, tmp_path / "d")
    assert sorted(os.listdir(tmp_path / "d")) == sorted(os.listdir(shards))
    total = 0
    for file in shards.iterdir():
        outputs, frame = Outputs.load(file), pl.read_parquet(tmp_path / "d" / file.name)
        known = selector.decide(outputs)
        for name in ("prediction", "confidence", "accepted", "reason", "error"):
            assert frame[name].to_list() == known[name].tolist()
        total += int(known["accepted"].sum())
    assert (result.n, result.accepted) == (100, total)
    ids = pl.concat([pl.read_parquet(file)["id"] for file in (tmp_path / "d").iterdir()])
    assert ids.n_unique() == 100


def test_a_file_without_rows_gets_decisions_without_rows(shards, selector, tmp_path):
    empty = pl.read_parquet(shards / "000.parquet").clear()
    for name in ("000", "004"):
        empty.write_parquet(shards / f"{name}.parquet")
    result = select(selector, shards, tmp_path / "d")
    assert (result.n, select(selector, shards, tmp_path / "d")) == (70, result)
    frames = {file.name: pl.read_parquet(file) for file in (tmp_path / "d").iterdir()}
    assert sorted(frames) == sorted(os.listdir(shards))
    assert [len(frames[name]) for name in ("000.parquet", "004.parquet")] == [0, 0]
    assert len({str(frame.schema) for frame in frames.values()}) == 1


def test_called_again_it_goes_on_and_other_decisions_are_not_overwritten(shards, selector, tmp_path):
    first = select(selector, shards, tmp_path / "d")
    (tmp_path / "d" / "002.parquet").unlink()
    kept = (tmp_path / "d" / "000.parquet").stat().st_mtime_ns
    assert select(selector, shards, tmp_path / "d") == first
    assert (tmp_path / "d" / "000.parquet").stat().st_mtime_ns == kept
    assert (tmp_path / "d" / "002.parquet").exists()
    os.utime(shards / "001.parquet", (1, 1))
    with pytest.raises(FileExistsError, match=r"001.parquet` must be new or hold decisions of this selector and .*001"):
        select(selector, shards, tmp_path / "d")


def test_decisions_of_another_version_are_not_mixed_with_those_of_this(shards, selector, tmp_path, monkeypatch):
    select(selector, shards, tmp_path / "d")
    monkeypatch.setattr(sys.modules[SelectTask.__module__], "version", lambda _: "0.0.0")
    with pytest.raises(
        FileExistsError, match=r"decisions of this selector and version of abstain .* got other decisions"
    ):
        select(selector, shards, tmp_path / "d")


def test_a_failure_leaves_whole_files_alone(shards, selector, tmp_path):
    content = (shards / "002.parquet").read_bytes()
    start = len(content) // 20
    (shards / "002.parquet").write_bytes(content[:start] + b"\xff" * 300 + content[start + 300 :])
    with pytest.raises(ValueError, match=r"002.parquet` must be a valid Parquet file"):
        select(selector, shards, tmp_path / "d", execution=Execution(workers=1))
    left = {"000.parquet", "001.parquet", "003.parquet"}  # the last one if it was at work
    assert {"000.parquet", "001.parquet"} <= set(os.listdir(tmp_path / "d")) <= left
    assert all(
        len(pl.read_parquet(file)) == len(pl.read_parquet(shards / file.name)) for file in (tmp_path / "d").iterdir()
    )


def test_what_a_killed_worker_left_is_removed(shards, selector, tmp_path):
    (tmp_path / "d").mkdir()
    for owner in ("dead", "alive"):
        (tmp_path / "d" / f"{PARTIAL}{owner}.parquet").write_bytes(b"half")
    with open(tmp_path / "d" / f"{PARTIAL}alive.parquet") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        select(selector, shards, tmp_path / "d")
    assert [name for name in os.listdir(tmp_path / "d") if name.startswith(".")] == [f"{PARTIAL}alive.parquet"]


def test_folders_within_and_addresses(shards, selector, tmp_path):
    (shards / "b").mkdir()
    (shards / "000.parquet").rename(shards / "b" / "000.parquet")
    select(selector, shards, f"file://{tmp_path}/d")
    assert (tmp_path / "d" / "b" / "000.parquet").exists()


def test_a_folder_that_cannot_be_is_refused(shards, selector):
    with pytest.raises(FileExistsError, match="must not be read as data"):
        select(selector, shards, shards)
    with pytest.raises(FileExistsError, match=r"must be a folder, got a file"):
        select(selector, shards, shards / "000.parquet")


@pytest.mark.parametrize(("path", "folder"), [(".", "d"), (".", "a/d"), ("*.parquet", "."), ("*/*.parquet", "d")])
def test_decisions_that_would_be_read_as_data_the_next_time_are_refused(shards, selector, path, folder):
    (shards / "a").mkdir()
    (shards / "000.parquet").rename(shards / "a" / "000.parquet")
    with pytest.raises(FileExistsError, match=r"must not be read as data, got a folder that .* reads"):
        select(selector, shards / path, shards / folder)
    assert not (shards / "d").exists()


def test_a_link_into_the_data_is_refused_as_the_data_are(shards, selector, tmp_path):
    (tmp_path / "link").symlink_to(shards)
    for path, folder in ((shards, tmp_path / "link" / "d"), (tmp_path / "link", shards / "d")):
        with pytest.raises(FileExistsError, match="must not be read as data"):
            select(selector, path, folder)


@pytest.mark.parametrize(("path", "folder"), [(".", "_d"), ("*.parquet", "d"), ("a", "d"), ("001.parquet", "d")])
def test_decisions_beside_the_data_that_are_not_read_as_such_are_fine(shards, selector, path, folder):
    (shards / "a").mkdir()
    (shards / "000.parquet").rename(shards / "a" / "000.parquet")
    assert select(selector, shards / path, shards / folder) == select(selector, shards / path, shards / folder)


def test_the_selector_travels_as_its_file(selector):
    made, parts = SelectTask(None, selector, None, None).__reduce__()  # type: ignore[arg-type]
    assert isinstance(parts[1], bytes)
    assert made(*parts).selector.threshold == selector.threshold


def test_predictions_have_the_names_of_the_columns(tmp_path):
    logits, labels = np.random.default_rng(0).normal(size=(200, 2)), np.tile([0, 1], 100)
    chosen = calibrate(Outputs(logits=logits, labels=labels, class_names=["cat", "dog"]), coverage=0.5)
    (tmp_path / "in").mkdir()
    for name, rows in (("a", slice(0, 0)), ("b", slice(0, 200))):
        columns = {"logit_cat": logits[rows, 0], "logit_dog": logits[rows, 1]}
        pl.DataFrame(columns).write_parquet(tmp_path / "in" / f"{name}.parquet")
    select(chosen, tmp_path / "in", tmp_path / "d")
    result = pl.read_parquet(tmp_path / "d" / "b.parquet")["prediction"].to_numpy()
    np.testing.assert_array_equal(result, np.array(["cat", "dog"])[logits.argmax(axis=1)])
    assert pl.read_parquet(tmp_path / "d" / "a.parquet")["prediction"].dtype == pl.String


def test_graded_losses_of_accepted_rows_are_summed(tmp_path):
    u = np.arange(400) / 400
    graded = calibrate(Outputs(confidences={"confidence": 1 - u}, losses=0.3 * u), risk=0.2)
    for name in "ab":
        pl.DataFrame({"confidence": 1 - u, "loss": 0.5 * u}).write_parquet(tmp_path / f"{name}.parquet")
    result = select(graded, [tmp_path / "a.parquet", tmp_path / "b.parquet"], tmp_path / "d")
    assert result.wrong == pytest.approx(2 * 0.5 * u[1 - u > graded.threshold.value].sum())
