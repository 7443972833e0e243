"""Cells read from bytes mean what Python reads in them."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from abstain.errors import InvalidInputError
from abstain.monitor import stream
from abstain.monitor.row import truth
from abstain.monitor.rows import keys_of
from abstain.monitor.stream import batches
from abstain.monitor.text_cells import TextCells
from abstain.outputs.columns import text

WORDS = (
    "7",
    "7.0",
    " 7",
    "",
    "true",
    "True",
    "FALSE",
    "yes",
    "0.0",
    "-0.0",
    "1e-3",
    "nan",
    "\u00a0x",
    "日本",
    "a.0",
    "maybe",
)
cells = st.sampled_from(WORDS) | st.floats().map(repr) | st.from_regex(r"[+-]?\d{0,21}\.?\d{0,21}", fullmatch=True)


def in_bytes(values):
    data = [value.encode() for value in values]
    ends = np.cumsum([len(each) for each in data], dtype=np.int64)
    return TextCells(np.frombuffer(b"".join(data), np.uint8), np.append(0, ends)[: len(ends)], ends)


@given(st.lists(cells, min_size=1))
@example(["9007199254740993", "9007199254740992.5", "0.500000000000000166533453693773481063544750213623046875"])
@example(["1" * 19, "0." + "1" * 19, "." + "0" * 21 + "7", ".", "+", "-.5", "5."])
def test_a_decimal_is_the_number_that_python_reads(values):
    numbers, kinds = in_bytes(values).numbers()
    for value, number, kind in zip(values, numbers.tolist(), kinds.tolist(), strict=True):
        assert kind != 1 or np.float64(number).tobytes() == np.float64(value).tobytes()
        assert (kind == 0) == (value == "")


def test_decimals_of_ordinary_tables_are_read_at_once():
    values = [*map(repr, np.random.default_rng(0).random(10_000).tolist()), "1", "-0.25", "+3.", ".5", "12345.678901"]
    assert (in_bytes(values).numbers()[1] == 1).all()


@given(cells)
@example("d.0")
@example("\u00a0x")
def test_a_cell_that_is_plain_is_the_name_that_text_makes_of_it(value):
    column = in_bytes(["s1", value])
    if column.are_plain:
        assert [column[0], column[1]] == list(column) == [text("s1"), text(value)]
        np.testing.assert_array_equal(column.keys(), keys_of([text("s1"), text(value)]))


def test_a_decimal_halfway_between_two_numbers_is_left_to_python():
    assert in_bytes(["2251799813685248.25", "2251799813685248.26"]).numbers()[1].tolist() == [2, 1]


def test_ordinary_names_are_plain():
    assert in_bytes(["s1", "", "né1", "10", "0.50x", "truth", "False", "-3"]).are_plain


@given(
    st.lists(
        st.sampled_from(("1", "1.0", "true", "YES", "No", "FALSE", "0", "", "maybe", "\0true", "xxxx\0\0\0\1true", "2"))
    )
)
def test_a_word_is_true_as_in_rows(values):
    codes = in_bytes(values).truths()
    try:
        expected = [truth(value) for value in values]
    except InvalidInputError:
        assert codes is None
    else:
        assert codes.tolist() == [-1 if value is None else value for value in expected]


def rows_of(file):
    """What the monitors see of a file, three rows at a time, or the error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "BATCH", 3)
        patch.setattr(stream, "BLOCK", 40)
        rows = []
        try:
            for batch in batches(str(file), {"error"}):
                read = batch.read(start=len(rows) + 1)
                columns = (read.accepted, read.confidence.view(np.int64), read.error, read.keys(), read.decisions())
                rows += zip(*(column.tolist() for column in columns), read.ids, read.domains, strict=True)
        except InvalidInputError as error:
            return rows, str(error).replace(str(file), "FILE")
        return rows, None


def rows_of_pipe(data, folder):
    """The same of a pipe, which the parser of Python reads."""
    end, begin = os.pipe()
    os.write(begin, data)
    os.close(begin)
    (folder / "pipe.csv").symlink_to(f"/dev/fd/{end}")
    try:
        return rows_of(folder / "pipe.csv")
    finally:
        os.close(end)


names = st.sampled_from(
    ("s1", "7", "7.0", " a ", "é", "", "true", '"q"', '"two\nlines"', '"a,b"', '"a""b"', 'a"b', '"', "\xa0")
)
values = st.sampled_from(("0.5", "0.1234567890123456", "", " 1 ", "nan", "1e-3", "1e-3", "2", '"0.25"', "high", "-0"))
truths = st.sampled_from(("1", "0", "true", "", " yes", '"no"', "0.0", "True", "maybe"))
lines = st.tuples(names, values, truths, truths).map(",".join) | st.sampled_from(
    ("", " ", "a,b", "é,1,1,1,1", "a\r,1,1,1")
)


def written(table, folder):
    file = Path(folder, "d.csv")
    file.write_bytes(table)
    return file


@given(st.lists(lines, max_size=12), st.sampled_from(("\n", "\r\n", "\r")), st.booleans())
@example(["s1,0.5,1,0"] * 4 + ["s2,0.5,1"], "\n", True)
@example(["s1,0.5,1,0", "s2,0.5,1,0", '",0.5,1,0'], "\n", True)
@example(["s1,0.5,1,0", "s2\r,0.5,1,0"], "\n", True)
def test_a_file_of_plain_lines_is_read_as_the_parser_of_python_reads_it(table, ending, ends):
    header = "id,confidence,accepted,error"
    data = ending.join([header, *table, ""] if ends else [header, *table]).encode()
    with TemporaryDirectory() as folder:
        assert rows_of(written(data, folder)) == rows_of_pipe(data, Path(folder))


def test_a_file_that_is_not_in_utf_8_is_refused_by_its_byte(tmp_path):
    file = written(b"id,error\n" + b"s,0\n" * 7 + b"\xff,1\n", tmp_path)
    assert rows_of(file)[1] == "`FILE` must be decisions in UTF-8, got the byte 0xff. Save it in UTF-8."
