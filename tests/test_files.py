from pathlib import Path

import pytest

from abstain.files import alone_with, read_text, write_text


def test_a_place_that_cannot_be_written_is_named_before_anything_is(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no/a` must be in a folder that exists, got none. Make .*no first"):
        write_text(tmp_path / "no" / "a", "x")
    with pytest.raises(FileExistsError, match=r"must be a file to write, got a folder. Choose another name"):
        write_text(tmp_path, "x")
    with pytest.raises(FileExistsError, match=r"must be a file to write, got a folder"), alone_with(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_never_replaced():
    with pytest.raises(FileExistsError, match=r"`/dev/null` must be a file to write, got a device"):
        write_text(Path("/dev/null"), "x")


def test_what_cannot_be_read_is_named_with_what_it_should_be(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none` must exist and be a note, got no such file"):
        read_text(tmp_path / "none", "a note")
    with pytest.raises(IsADirectoryError, match=r"must be a note, got a folder"):
        read_text(tmp_path, "a note")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=r"latin` must be a note in UTF-8, got the byte 0xe9. Save it in UTF-8"):
        read_text(tmp_path / "latin", "a note")
