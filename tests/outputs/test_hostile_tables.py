import numpy as np
import pytest

from abstain import Outputs


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "have a column confidence, or columns logit_… or proba_…, got none"),
        (b'confidence,correct\n0.5,"1\n0.2,0\n', "comma-separated values, got unexpected end of data in line 3"),
        ("confidence,id\n0.5,é\n".encode("latin-1"), "be a table in UTF-8, got the byte 0xe9. Save it in UTF-8"),
        (b"confidence,id\n0.5,a\0\n", "texts without NUL in column id, got .* in row 1"),
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
