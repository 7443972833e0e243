import numpy as np

from abstain.experiments.packaged import magika


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
