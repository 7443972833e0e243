import os
import shlex
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from abstain import Outputs
from abstain.outputs import arrays


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "have a column confidence, or columns logit_… or proba_…, got none"),
        (b'confidence,correct\n0.5,"1\n0.2,0\n', "comma-separated values, got unexpected end of data in line 3"),
        ("confidence,id\n0.5,é\n".encode("latin-1"), "be a table in UTF-8, got the byte 0xe9. Save it in UTF-8"),
        (b"confidence,id\n0.5,a\0\n", "strings without NUL in column id, got .* in row 1"),
        (b"confidence\n0.5\n1_0\n", "have numbers in column confidence, got '1_0' in row 2"),
        ("confidence\n٣\n".encode(), "have numbers in column confidence, got '٣' in row 1"),
        (
            b"confidence\n9007199254740993\n",
            "have numbers in column confidence, got '9007199254740993' in row 1, which float64 cannot hold",
        ),
        (b"confidence\n" + b"x" * 200_000 + b"\n", r"got 'x{59} in row 1\."),
        (b"confidence,correct\n0.5\n", "have 2 values in each row, got 1 in row 1"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(tmp_path, content, message):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=rf"t.csv` must .*{message}"):
        Outputs.load(tmp_path / "t.csv")


def test_a_missing_table_and_one_whose_name_is_in_capitals(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.csv` must exist and be a table, got no such file"):
        Outputs.load(tmp_path / "none.csv")
    (tmp_path / "T.CSV").write_text("confidence\n0.5\n")
    assert len(Outputs.load(tmp_path / "T.CSV")) == 1


def test_junk_parquet_is_refused_without_a_word_of_its_library(tmp_path, capfd):
    polars = pytest.importorskip("polars")
    file = tmp_path / "t.parquet"
    polars.DataFrame({"confidence": [0.1, 0.2], "group": ["a", "b"]}).write_parquet(file)
    content, rng = file.read_bytes(), np.random.default_rng(0)
    said = []
    for _ in range(300):
        damaged = bytearray(content)
        damaged[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        file.write_bytes(damaged)
        try:
            Outputs.load(file, nonfinite="reject")
        except (ValueError, TypeError) as error:
            said.append(str(error))
    assert len(said) > 50
    assert all(words.startswith("`") for words in said)
    assert capfd.readouterr().err == ""


THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from abstain import Outputs
from abstain.outputs import arrays
with ThreadPoolExecutor(8) as pool:
    list(pool.map(Outputs.load, [sys.argv[1]] * 200))
print("still there", file=sys.stderr)
"""


def test_standard_error_outlives_parquet_files_read_by_threads(tmp_path):
    polars = pytest.importorskip("polars")
    file = tmp_path / "t.parquet"
    polars.DataFrame({"confidence": [0.1, 0.2]}).write_parquet(file)
    done = subprocess.run([sys.executable, "-c", THREADS, file], capture_output=True, text=True, check=True)
    assert done.stderr == "still there\n"
    before = file.read_bytes()
    words = [sys.executable, "-c", "import sys; from abstain import Outputs; Outputs.load(sys.argv[1])", str(file)]
    subprocess.run([f"{shlex.join(words)} 2>&-"], shell=True, check=True, timeout=100)
    assert file.read_bytes() == before


def test_a_small_parquet_file_of_very_many_rows_is_refused_before_they_are_read(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setattr(arrays, "ALWAYS_EXPANDED", 1 << 20)
    polars.DataFrame({"confidence": np.ones(200_000)}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        ValueError, match=r"t.parquet` must be .*, got \S+ bytes that would become 1.6 MB, which only .*again\.$"
    ):
        Outputs.load(tmp_path / "t.parquet")


def test_a_pipe_is_no_file(tmp_path):
    for name in ("t.csv", "t.parquet", "t.npz", "run/logits.npy", "run/outputs.json"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        if name == "run/logits.npy":
            Outputs(logits=[[2.0, 0.0]]).save(file.parent)
        file.unlink(missing_ok=True)
        os.mkfifo(file)
        with pytest.raises(ValueError, match=rf"{name}` must be .*, got a pipe or a device"):
            Outputs.load(file.parent if file.parent != tmp_path else file)


def test_a_long_field_that_nobody_reads_is_no_matter(tmp_path):
    (tmp_path / "t.csv").write_text(f"confidence,document\n0.5,{'x' * 300_000}\n")
    assert Outputs.load(tmp_path / "t.csv").confidence("confidence").tolist() == [0.5]


def test_stored_integers_that_would_tie_are_refused(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"confidence": [2**53, 2**53 + 1]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"numbers in column confidence, got 9007199254740993 in row 2"):
        Outputs.load(tmp_path / "t.parquet")


def test_a_bit_that_makes_arrow_read_other_numbers_is_seen_by_what_the_file_states(tmp_path):
    file = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    pl.DataFrame({"confidence": rng.random(40), "correct": [1] * 40}).write_parquet(file)
    content = bytearray(file.read_bytes())
    optional = content.rindex(b"\x25\x02\x18\x0aconfidence")  # in the footer, whether there are gaps, then the name
    content[optional] ^= 1  # another type, so that Arrow skips it, takes none for granted, and reads levels as numbers
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"column confidence, stated to be from 0\.0\S+ to 0\.9"):
        Outputs.load(file)


def test_row_groups_of_other_rows_than_the_file_states_are_refused(tmp_path):
    from pyarrow import parquet

    file = tmp_path / "t.parquet"
    pl.DataFrame({"confidence": [0.25, 0.5], "correct": [1, 0]}).write_parquet(file)
    content, refused = file.read_bytes(), 0
    for position in range(len(content) // 2, len(content) - 8):
        file.write_bytes(content[:position] + b"\0" + content[position + 1 :])
        try:
            metadata = parquet.read_metadata(file)
            rows = sum(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
        except (OSError, ValueError, RuntimeError):
            continue
        if rows != metadata.num_rows:
            with pytest.raises(ValueError, match="must be a Parquet file, got "):
                Outputs.load(file)
            refused += 1
    assert refused
