import json
from pathlib import Path

import numpy as np
import pytest

from abstain_reproduction.real_models import magika
from abstain_reproduction.real_models.magika_model import ENDINGS, UNKNOWN_ENDINGS


def test_labels_by_ending_do_not_contradict_magikas_own_table():
    package_folder = Path(pytest.importorskip("magika").__file__).parent
    (config,) = package_folder.glob("models/*/config.min.json")
    types_it_tells = json.loads(config.read_text())["target_labels_space"]
    all_types = json.loads((package_folder / "config" / "content_types_kb.min.json").read_text())
    table = {name: set(all_types[name]["extensions"]) for name in types_it_tells if name in all_types}
    types = {ending: {name for name, endings in table.items() if ending in endings} for ending in ENDINGS}
    assert {ending for ending, known in types.items() if known and ENDINGS[ending] not in known} == set()
    assert not set(UNKNOWN_ENDINGS) & set().union(*table.values())


def test_magika_on_a_few_files(tmp_path, monkeypatch):
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.py").write_text(f"import os\n\n\ndef f{number}():\n    return os.getcwd()\n" * 10)
    (folder / "x.pxd").write_text("cdef int f()\n" * 10)
    (folder / "again.py").write_bytes((folder / "0.py").read_bytes())
    (folder / "again.pxd").write_bytes((folder / "0.py").read_bytes())
    monkeypatch.setattr(magika, "FOLDERS", (str(folder),))
    outputs = magika.run(tmp_path / "run", 0, None)
    assert outputs.domain.tolist() == [
        d for d in ("clean", "truncate", "byte_noise", "fold_case", "reencode") for _ in range(4)
    ] + ["unknown"]
    assert not outputs.errors[:4].any()
    assert len(np.unique(outputs.ids)) == 5  # a file under two names is one
