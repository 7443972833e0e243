"""Where Parquet files may be."""

import pyarrow.fs as fs
import pytest

from abstain.scale.data import ParquetData
from abstain.scale.locations import is_sharded

NAMES = [f"00{number}.parquet" for number in range(4)]


def names(data):
    return [shard.name.rsplit("/", 1)[-1] for shard in data.shards]


def test_a_folder_a_pattern_an_address_and_a_list_are_the_same_rows(shards, monkeypatch):
    monkeypatch.chdir(shards.parent)
    each = [shards / name for name in reversed(NAMES)]
    for path in ("data", "data/*.parquet", "d*/00[0-3].parquet", f"file://{shards}", f"file://{shards}/*", each):
        data = ParquetData.open(path)
        assert names(data) == NAMES
        assert data.rows == 100
    assert ParquetData.open("data").shards[0].name == "data/000.parquet"
    assert ParquetData.open(f"file://{shards}").shards[0].name == f"file://{shards}/000.parquet"


def test_a_file_system_of_ones_own(shards):
    inside = fs.SubTreeFileSystem(str(shards.parent), fs.LocalFileSystem())
    assert names(ParquetData.open("data/00?.parquet", filesystem=inside)) == NAMES


def test_what_a_writer_hides_is_no_data_and_folders_within_are(shards):
    for name in ("_metadata.parquet", ".000.1.ab.parquet", "_temporary/0.parquet", "year=2/b.parquet"):
        (shards / name).parent.mkdir(exist_ok=True)
        (shards / name).write_bytes((shards / NAMES[0]).read_bytes())
    assert names(ParquetData.open(shards)) == [*NAMES, "b.parquet"]


def test_a_pattern_takes_nothing_hidden_and_no_two_stars(shards):
    (shards / ".partial.parquet").write_bytes((shards / NAMES[0]).read_bytes())
    assert names(ParquetData.open(f"{shards}/*.parquet")) == NAMES
    with pytest.raises(ValueError, match=r"must not contain \*\*"):
        ParquetData.open(f"{shards}/**/*.parquet")


def test_which_places_have_several_files(shards, tmp_path):
    assert is_sharded(shards)
    assert is_sharded("s3://bucket/data")
    assert is_sharded(f"{shards}/*.parquet")
    assert not is_sharded(shards / NAMES[0])
    assert is_sharded(tmp_path)  # in folders within
    assert not is_sharded(tmp_path / "none")
    (tmp_path / "outputs.json").write_text("{}")
    assert not is_sharded(tmp_path)  # saved outputs, whatever lies beside them


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none", "`none` must exist, got no such file or folder"),
        ("data/9*.parquet", r"`data/9\*.parquet` must have files that end in .parquet, got none"),
        ("s9://data", "`s9://data` must be an address that PyArrow knows, such as s3://bucket/data"),
        (["data", "data/000.parquet"], "must not name a file twice, got .*000.parquet again"),
        ([], "`data` must name Parquet files, got none"),
    ],
)
def test_a_place_without_data_is_refused(path, message, shards, monkeypatch):
    monkeypatch.chdir(shards.parent)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        ParquetData.open(path)
