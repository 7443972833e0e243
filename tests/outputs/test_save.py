import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from abstain import Outputs


def assert_same(a, b):
    for name in ("logits", "labels", "features", "weight", "bias", "shift", "domain", "ids", "class_names"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_saved_and_loaded_is_the_same(make, tmp_path):
    make().save(tmp_path / "run")
    assert_same(Outputs.load(tmp_path / "run"), make())


def test_files_have_plain_names_and_nothing_else_is_left(make, tmp_path):
    make().save(tmp_path / "run")
    names = {"logits", "labels", "features", "weight", "bias", "shift", "domain", "ids"}
    assert {p.name for p in (tmp_path / "run").iterdir()} == {f"{name}.npy" for name in names} | {"outputs.json"}
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_loaded_arrays_are_memory_mapped(make, tmp_path):
    make().save(tmp_path / "run")
    logits = Outputs.load(tmp_path / "run").logits
    base = logits
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_overwriting_replaces_all_arrays(make, tmp_path):
    make().save(tmp_path)
    Outputs(logits=np.ones((2, 2))).save(tmp_path)
    loaded = Outputs.load(tmp_path)
    assert len(loaded) == 2
    assert loaded.labels is None
    assert len(list(tmp_path.iterdir())) == 3  # logits, shift, header
    make(seed=5).save(tmp_path)
    assert_same(Outputs.load(tmp_path), make(seed=5))


def test_saving_loaded_outputs_over_themselves_is_safe(make, tmp_path):
    make().save(tmp_path)
    Outputs.load(tmp_path).select([3, 1]).save(tmp_path)
    np.testing.assert_array_equal(Outputs.load(tmp_path).logits, make().logits[[3, 1]])


@pytest.mark.parametrize("name", ["run.parquet", "run.csv", "run.JSONL", "run.npz", "run.sketch"])
def test_the_name_of_a_file_is_not_taken_for_that_of_a_folder(name, make, tmp_path):
    message = f"`folder` must be the name of a folder, got {name}, that of a file. .* such as run\\.$"
    with pytest.raises(ValueError, match=message):
        make().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_point_in_the_name_of_a_folder_is_no_ending(make, tmp_path):
    make().save(tmp_path / "resnet.v1.5")
    (tmp_path / "mine.parquet").mkdir()
    make().save(tmp_path / "mine.parquet")
    assert_same(Outputs.load(tmp_path / "mine.parquet"), Outputs.load(tmp_path / "resnet.v1.5"))


def test_a_folder_with_other_files_is_left_alone(make, tmp_path):
    (tmp_path / "labels.npy").write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"`folder` must be new, empty or hold saved outputs"):
        make().save(tmp_path)
    assert (tmp_path / "labels.npy").read_bytes() == b"mine"


def test_a_failed_overwrite_leaves_the_old_contents(make, tmp_path, monkeypatch):
    make().save(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    monkeypatch.setattr(np, "save", lambda *_args, **_kwargs: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match=r"disk full"):
        make(seed=1).save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert_same(Outputs.load(tmp_path), make())


def test_a_stop_after_the_header_is_replaced_leaves_the_new_contents(make, tmp_path, monkeypatch):
    make().save(tmp_path)
    calls = []

    def sync(_):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("abstain.outputs.header.sync_folder", sync)
    with pytest.raises(KeyboardInterrupt):
        make(seed=1).save(tmp_path)
    assert_same(Outputs.load(tmp_path), make(seed=1))


TURNS = """
import sys, numpy as np
from abstain import Outputs
for turn in range(30):
    seed = 2 * turn + int(sys.argv[2])
    Outputs(logits=np.full((50 + seed, 5), float(seed)), labels=np.full(50 + seed, seed % 5)).save(sys.argv[1])
    loaded = Outputs.load(sys.argv[1])
    assert (loaded.logits == len(loaded) - 50).all()
"""


def test_two_writers_and_readers_take_turns(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", TURNS, str(tmp_path / "run"), str(k)]) for k in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    loaded = Outputs.load(tmp_path / "run")
    assert (loaded.logits == len(loaded) - 50).all()
    assert len(list((tmp_path / "run").iterdir())) == 4  # logits, labels, shift, header


WRITER = """
import sys, numpy as np
from abstain import Outputs
print("ready", flush=True)
seed = 0
while True:
    seed += 1
    Outputs(logits=np.full((2000, 50), float(seed)), labels=np.full(2000, seed % 50)).save(sys.argv[1])
"""


def test_a_kill_at_any_moment_leaves_whole_outputs(tmp_path):
    folder = tmp_path / "run"
    rng = np.random.default_rng(0)
    for _ in range(8):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE)
        writer.stdout.readline()
        time.sleep(rng.uniform(0.02, 0.3))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        if folder.exists():
            loaded = Outputs.load(folder)
            seed = int(loaded.logits[0, 0])
            assert (loaded.logits == seed).all()
            assert (loaded.labels == seed % 50).all()
    Outputs(logits=np.ones((2, 2))).save(folder)
    assert {p.name.split(".")[0] for p in folder.iterdir()} == {"logits", "shift", "outputs"}
