import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from abstain import Outputs
from abstain._errors import FileAccessError
from abstain._io.files import read_text, write_text, write_whole
from abstain._io.locks import alone_with


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
    with pytest.raises(FileAccessError, match=r"must be a note, got a folder"):
        read_text(tmp_path, "a note")
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    with pytest.raises(ValueError, match=r"latin` must be a note in UTF-8, got the byte 0xe9. Save it in UTF-8"):
        read_text(tmp_path / "latin", "a note")


def test_a_link_stays_and_the_file_it_names_keeps_its_mode(tmp_path):
    (tmp_path / "kept").mkdir()
    file, link = tmp_path / "kept" / "secret", tmp_path / "link"
    write_text(file, "old")
    file.chmod(0o600)
    link.symlink_to(file)
    seen = []
    write_whole(link, lambda partial: (partial.write_text("new"), seen.append(partial.stat().st_mode & 0o777)))
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert [*seen, file.stat().st_mode & 0o777] == [0o600, 0o600]
    write_text(tmp_path / "plain", "x")
    (tmp_path / "other").write_text("y")
    assert (tmp_path / "plain").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "x" * 236 + ".csv", "a." + "y" * 253])
def test_names_as_long_as_the_system_has_can_be_written(tmp_path, name):
    with alone_with(tmp_path / name):
        write_text(tmp_path / name, "text")
    assert (tmp_path / name).read_text() == "text"
    Outputs(logits=[[2.0, 0.0]]).save(tmp_path / f"{name[:-1]}z")
    assert len(Outputs.load(tmp_path / f"{name[:-1]}z")) == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from abstain._io.files import write_whole
write_whole(Path(sys.argv[1]), lambda partial: (partial.write_text("half"), os.kill(os.getpid(), signal.SIGKILL)))
"""


def test_what_a_killed_process_left_is_removed_by_the_next_and_a_living_one_keeps_its_own(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a"], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    last = "; write_text(Path(sys.argv[1]), 'whole')"
    write_next = f"import sys; from pathlib import Path; from abstain._io.files import write_text{last}"

    def write(partial):
        partial.write_text("mine")
        subprocess.run([sys.executable, "-c", write_next, tmp_path / "b"], check=True)
        assert partial.exists()

    write_whole(tmp_path / "a", write)
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"a": "mine", "b": "whole"}


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    def fill(partial):
        partial.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match=r"No space left on device: .*decisions.csv'"):
        write_whole(tmp_path / "decisions.csv", fill)
    assert list(tmp_path.iterdir()) == []
