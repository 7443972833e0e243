import gzip

import numpy as np
import pytest

from abstain_reproduction.real_models.mnist_data import in_colour, read_idx


def test_idx_files_are_read_packed_or_not(tmp_path):
    header = b"\0\0\x08\x02" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big")
    (tmp_path / "a-ubyte").write_bytes(header + bytes(range(6)))
    (tmp_path / "b-ubyte.gz").write_bytes(gzip.compress(header + bytes(range(6))))
    for stem in ("a", "b"):
        assert read_idx(tmp_path, stem).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("contents", [b"", b"\1\2\3\4", b"\0\0\x08\x02"])
def test_other_contents_are_refused(contents, tmp_path):
    (tmp_path / "c-ubyte").write_bytes(contents)
    with pytest.raises(ValueError, match="must be an IDX file of bytes"):
        read_idx(tmp_path, "c")


def test_grey_images_get_a_frame_and_three_channels():
    made = in_colour(np.full((2, 28, 28), 7, dtype=np.uint8))
    assert made.shape == (2, 32, 32, 3)
    assert made.sum() == 2 * 28 * 28 * 3 * 7
    assert made[:, 2:-2, 2:-2].min() == 7
