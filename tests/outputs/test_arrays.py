import io
import pickle
import zipfile

import numpy as np
import pytest

from abstain import Outputs
from abstain.outputs import arrays


def npy(shape, data=b""):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue() + data


def archive(file, content, way=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(file, "w", way) as members:
        members.writestr("logits.npy", content)
    return file


def test_a_huge_shape_in_a_small_file_is_refused_with_its_size(tmp_path):
    (tmp_path / "pred_logits.npy").write_bytes(npy((10**9, 10**3)))
    with pytest.raises(ValueError, match=r"pred_logits.npy` must be .* got 128 bytes where its header says 8.0 TB"):
        Outputs.load(tmp_path)
    with pytest.raises(ValueError, match=r"got 128 bytes in logits.npy where its header says 8.0 TB"):
        Outputs.load(archive(tmp_path / "run.npz", npy((10**9, 10**3))))


@pytest.mark.parametrize("shape", [(-3, 2), (True, 2)])
def test_a_shape_that_is_none_is_refused(tmp_path, shape):
    (tmp_path / "pred_logits.npy").write_bytes(npy(shape, bytes(16)))
    with pytest.raises(ValueError, match="got the shape"):
        Outputs.load(tmp_path)


def test_an_archive_that_would_become_far_larger_is_refused(tmp_path, monkeypatch):
    file = archive(tmp_path / "run.npz", npy((100_000, 10), bytes(8_000_000)))
    assert len(Outputs.load(file)) == 100_000  # small enough, however well it was packed
    monkeypatch.setattr(arrays, "ALWAYS_EXPANDED", 1 << 20)
    with pytest.raises(ValueError, match=r"bytes in logits.npy that would become 8.0 MB. .* save it uncompressed"):
        Outputs.load(file)


def test_arrays_larger_than_the_memory_are_refused(tmp_path, monkeypatch):
    file = archive(tmp_path / "run.npz", npy((1000, 2), bytes(16_000)))
    monkeypatch.setattr(arrays, "_free_memory", lambda: 10_000)
    with pytest.raises(ValueError, match="got arrays of 16,128 bytes where 10,000 bytes of memory are free"):
        Outputs.load(file)


def test_free_memory_is_that_of_the_machine():
    assert arrays._free_memory() is None or 1 << 20 < arrays._free_memory() < 1 << 50


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "an empty file"),
        (b"hello", "another kind of file. Outputs are in a folder"),
        (b'{"format": 1}', "another kind of file"),
        (pickle.dumps([1, 2]), "pickled objects, which are never read"),
        (npy((1, 2), bytes(16)), "a single array"),
        (b"PK\3\4" + bytes(50), "File is not a zip file"),
    ],
)
def test_what_is_no_archive_is_called_what_it_is(tmp_path, content, kind):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=rf"file` must be a whole .npz file .* got {kind}"):
        Outputs.load(tmp_path / "file")


@pytest.mark.parametrize("way", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_refused_however_it_is_packed(tmp_path, way):
    content = npy((100, 2), np.random.default_rng(0).normal(size=200).tobytes())
    file = archive(tmp_path / "run.npz", content, way)
    assert len(Outputs.load(file)) == 100
    damaged = bytearray(file.read_bytes())
    damaged[300:340] = bytes(40)
    file.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"run.npz` must be a whole .npz file"):
        Outputs.load(file)


def test_no_bit_of_an_archive_drops_or_changes_an_array(tmp_path):
    """All bits of the lists and headers; those of arrays are covered by their checksums."""
    kept = {"logits": 2 * np.eye(3), "labels": np.arange(3), "class_names": np.array(["cat", "dog", "eel"])}
    for names, save in ((list(kept), np.savez), (list(kept)[::-1], np.savez_compressed)):
        save(tmp_path / "run.npz", **{name: kept[name] for name in names})
        content = (tmp_path / "run.npz").read_bytes()
        starts = [
            start for start in range(len(content)) if content[start : start + 4] in (b"PK\3\4", b"PK\1\2", b"PK\5\6")
        ]
        for bit in (8 * start + bit for start in starts for bit in range(8 * 60)):
            if bit >= 8 * len(content):
                continue
            altered = bytearray(content)
            altered[bit // 8] ^= 1 << bit % 8
            (tmp_path / "run.npz").write_bytes(altered)
            try:
                result = Outputs.load(tmp_path / "run.npz")
            except ValueError:
                continue
            assert result.labels.tolist() == [0, 1, 2], bit
            assert result.class_names == ("cat", "dog", "eel")
