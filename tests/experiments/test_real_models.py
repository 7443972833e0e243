"""The experiments on real models, cut down to a few samples."""

from dataclasses import replace

import numpy as np
import pytest

from abstain.experiments import fashion, magika


def test_magika_on_a_few_files(tmp_path, monkeypatch):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.py").write_text(f"import os\n\n\ndef f{number}():\n    return os.getcwd()\n" * 10)
    (folder / "x.pyi").write_text("def f() -> int: ...\n" * 10)
    (folder / "again.py").write_bytes((folder / "0.py").read_bytes())
    (folder / "again.pyi").write_bytes((folder / "0.py").read_bytes())
    monkeypatch.setattr(magika, "FOLDERS", (str(folder),))
    outputs = magika.run(tmp_path / "run", 0, None)
    assert outputs.domain.tolist() == [
        d for d in ("clean", "truncate", "byte_noise", "fold_case", "reencode") for _ in range(4)
    ] + ["unknown"]
    assert not outputs.errors[:4].any()
    assert len(np.unique(outputs.ids)) == 5  # a file under two names is one


def test_idx_files_are_read(tmp_path):
    import gzip

    header = b"\0\0\x08\x02" + (2).to_bytes(4, "big") + (3).to_bytes(4, "big")
    (tmp_path / "a-ubyte").write_bytes(header + bytes(range(6)))
    (tmp_path / "b-ubyte.gz").write_bytes(gzip.compress(header + bytes(range(6))))
    for stem in ("a", "b"):
        assert fashion.read_idx(tmp_path, stem).tolist() == [[0, 1, 2], [3, 4, 5]]
    (tmp_path / "c-ubyte").write_bytes(b"\1\2\3\4")
    with pytest.raises(ValueError, match="must be an IDX file of bytes"):
        fashion.read_idx(tmp_path, "c")


def test_missing_data_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(fashion, "FASHION", replace(fashion.FASHION, folder=tmp_path / "none"))
    with pytest.raises(FileNotFoundError, match=r"must have Fashion-MNIST in .*none, got none. Get it with: apt-get"):
        fashion.run(tmp_path / "run", 0, None)
