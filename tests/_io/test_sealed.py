"""Files that are whole and unaltered, or refused."""

import numpy as np
import pytest

from abstain._io.sealed import load_sealed, save_sealed

WORDS = {"writer": "us", "again": "write it again"}


@pytest.fixture
def file(tmp_path):
    save_sealed(tmp_path / "f", "abstain.thing", 3, {"name": "a", "worth": float("inf")}, {"x": np.arange(4)})
    return tmp_path / "f"


def test_header_and_arrays_come_back(file):
    header, arrays = load_sealed(file, "abstain.thing", 3, **WORDS)
    assert header == {"name": "a", "worth": "inf"}
    assert arrays["x"].tolist() == [0, 1, 2, 3]


def test_every_altered_bit_is_found(file):
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 4]) + whole[position + 1 :])
        with pytest.raises(ValueError, match="f` must be"):
            load_sealed(file, "abstain.thing", 3, **WORDS)


def test_every_cut_is_found(file):
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="f` must be"):
            load_sealed(file, "abstain.thing", 3, **WORDS)


def test_other_kinds_and_versions_are_told(file):
    with pytest.raises(ValueError, match="must be a pot, got another kind of file"):
        load_sealed(file, "abstain.pot", 3, **WORDS)
    with pytest.raises(ValueError, match=r"got 3\. Use the abstain that wrote it, or write it again"):
        load_sealed(file, "abstain.thing", 4, **WORDS)
