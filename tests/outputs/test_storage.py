import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from abstain import Outputs


def make(n=20, seed=0):
    rng = np.random.default_rng(seed)
    return Outputs(
        logits=rng.normal(size=(n, 3)).astype(np.float32),
        labels=rng.integers(-1, 3, size=n),
        features=rng.normal(size=(n, 4)),
        weight=rng.normal(size=(3, 4)),
        bias=rng.normal(size=3),
        domain=[f"domain-{i % 3}" for i in range(n)],
        ids=[f"é{i}" for i in range(n)],
        class_names=["cat", "dog", "gnu"],
    )


def assert_same(a, b):
    for name in ("logits", "labels", "features", "weight", "bias", "shift", "domain", "ids", "class_names"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_saved_and_loaded_is_the_same(tmp_path):
    make().save(tmp_path / "run")
    assert_same(Outputs.load(tmp_path / "run"), make())


def test_files_have_plain_names_and_nothing_else_is_left(tmp_path):
    make().save(tmp_path / "run")
    names = {"logits", "labels", "features", "weight", "bias", "shift", "domain", "ids"}
    assert {p.name for p in (tmp_path / "run").iterdir()} == {f"{name}.npy" for name in names} | {"outputs.json"}
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_loaded_arrays_are_memory_mapped(tmp_path):
    make().save(tmp_path / "run")
    logits = Outputs.load(tmp_path / "run").logits
    base = logits
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_overwriting_replaces_all_arrays(tmp_path):
    make().save(tmp_path)
    Outputs(logits=np.ones((2, 2))).save(tmp_path)
    loaded = Outputs.load(tmp_path)
    assert len(loaded) == 2
    assert loaded.labels is None
    assert len(list(tmp_path.iterdir())) == 3  # logits, shift, header
    make(seed=5).save(tmp_path)
    assert_same(Outputs.load(tmp_path), make(seed=5))


def test_saving_loaded_outputs_over_themselves_is_safe(tmp_path):
    make().save(tmp_path)
    Outputs.load(tmp_path).select([3, 1]).save(tmp_path)
    np.testing.assert_array_equal(Outputs.load(tmp_path).logits, make().logits[[3, 1]])


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "labels.npy").write_bytes(b"mine")
    with pytest.raises(FileExistsError, match=r"`folder` must be new, empty or hold saved outputs"):
        make().save(tmp_path)
    assert (tmp_path / "labels.npy").read_bytes() == b"mine"


def test_a_failed_overwrite_leaves_the_old_contents(tmp_path, monkeypatch):
    make().save(tmp_path)
    before = sorted(p.name for p in tmp_path.iterdir())
    monkeypatch.setattr(np, "save", lambda *_args, **_kwargs: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match=r"disk full"):
        make(seed=1).save(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert_same(Outputs.load(tmp_path), make())


def test_a_stop_after_the_header_is_replaced_leaves_the_new_contents(tmp_path, monkeypatch):
    make().save(tmp_path)
    calls = []

    def sync(_):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("abstain.outputs.storage._sync", sync)
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


def test_npz(tmp_path):
    o = make()
    np.savez(tmp_path / "run.npz", logits=o.logits, labels=o.labels, class_names=np.array(o.class_names))
    loaded = Outputs.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded.labels, o.labels)
    assert loaded.class_names == o.class_names


def test_the_paper_authors_folder(tmp_path):
    o = make()
    np.save(tmp_path / "pred_logits.npy", o.logits)
    np.save(tmp_path / "labels.npy", o.labels)
    np.save(tmp_path / "features.npy", o.features)
    np.save(tmp_path / "last_layer_weights.npy", o.weight)
    np.save(tmp_path / "last_layer_bias.npy", o.bias)
    loaded = Outputs.load(tmp_path)
    for name in ("logits", "labels", "features", "weight", "bias"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(o, name))


class Trap:
    """Unpickling it would write a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_pickled_arrays_are_refused_and_never_run(tmp_path):
    sprung = tmp_path / "sprung"
    folder = tmp_path / "run"
    make().save(folder)
    with open(folder / "logits.npy", "wb") as stream:
        np.save(stream, np.array([[Trap(sprung)]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"logits.npy` must be a whole .npy array without pickled objects"):
        Outputs.load(folder)
    (folder / "logits.npy").write_bytes(pickle.dumps(Trap(sprung)))
    with pytest.raises(ValueError, match=r"without pickled objects"):
        Outputs.load(folder)
    np.savez(tmp_path / "run.npz", logits=np.array([[Trap(sprung)]], dtype=object))
    with pytest.raises(ValueError, match=r"without pickled objects"):
        Outputs.load(tmp_path / "run.npz")
    assert not sprung.exists()


@pytest.mark.parametrize("length", [0, 5, 50, 100, 150])
def test_truncated_arrays_are_refused(tmp_path, length):
    make().save(tmp_path)
    file = tmp_path / "logits.npy"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"logits.npy` must be a whole .npy array"):
        Outputs.load(tmp_path)


def test_truncated_npz_is_refused(tmp_path):
    np.savez(tmp_path / "run.npz", logits=make().logits)
    data = (tmp_path / "run.npz").read_bytes()
    (tmp_path / "run.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"must be a whole .npz file"):
        Outputs.load(tmp_path / "run.npz")


def test_an_npz_with_other_names_says_which(tmp_path):
    np.savez(tmp_path / "run.npz", scores=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"must hold arrays named logits and any of .* got scores"):
        Outputs.load(tmp_path / "run.npz")


def test_a_single_array_is_not_outputs(tmp_path):
    np.save(tmp_path / "logits.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"must be a whole .npz file .* got a single array"):
        Outputs.load(tmp_path / "logits.npy")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h | {"version": 99}, "must be of format version 1, got 99"),
        (lambda h: h | {"format": "other"}, "must be a header written by Outputs.save"),
        (lambda _: {"version": 1}, "must be a header written by Outputs.save"),
        (lambda h: {k: v for k, v in h.items() if k != "class_names"}, "must be a header written by Outputs.save"),
        (lambda h: h | {"arrays": {"logits": {"file": "logits.npy"}}}, "must be a header written by Outputs.save"),
        (lambda h: h | {"arrays": {"logits": {"file": "../logits.npy"}}}, "must be a header written by Outputs.save"),
        (lambda h: h | {"arrays": {"logits": h["arrays"]["logits"] | {"shape": [1, 2]}}}, "as outputs.json says"),
        (lambda h: h | {"arrays": {"logits": h["arrays"]["logits"] | {"file": "gone.npy"}}}, "must exist"),
    ],
)
def test_altered_headers_are_refused(tmp_path, change, message):
    make().save(tmp_path)
    header = json.loads((tmp_path / "outputs.json").read_text())
    (tmp_path / "outputs.json").write_text(json.dumps(change(header)))
    with pytest.raises(ValueError, match=message):
        Outputs.load(tmp_path)


def test_a_broken_header_is_refused(tmp_path):
    make().save(tmp_path)
    (tmp_path / "outputs.json").write_text("{")
    with pytest.raises(ValueError, match=r"must be a header written by Outputs.save"):
        Outputs.load(tmp_path)


def test_an_empty_folder_and_a_missing_one(tmp_path):
    with pytest.raises(ValueError, match=r"must hold outputs.json or pred_logits.npy"):
        Outputs.load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"none` must exist, got no such file or folder"):
        Outputs.load(tmp_path / "none")


def test_what_holds_no_outputs_is_told_by_what_it_is(tmp_path):
    (tmp_path / "a.sketch").touch()
    with pytest.raises(ValueError, match=r"a.sketch` must hold rows, got a sketch, which holds counts only. It is for"):
        Outputs.load(tmp_path / "a.sketch")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "0.parquet").touch()
    with pytest.raises(ValueError, match=r"got a folder of Parquet files. Count them first: `abstain sketch "):
        Outputs.load(tmp_path)


@pytest.mark.parametrize("where", ["header", "data", "end"])
def test_an_altered_array_is_refused(where, tmp_path):
    rng = np.random.default_rng(0)
    Outputs(logits=rng.normal(size=(50, 3)).astype(np.float32), labels=rng.integers(3, size=50)).save(tmp_path / "run")
    file = tmp_path / "run" / "logits.npy"
    contents = file.read_bytes()
    if where == "end":
        file.write_bytes(contents + b"\0")
        with pytest.raises(ValueError, match=r"logits.npy` must be"):
            Outputs.load(tmp_path / "run", verify=False)
        return
    places = range(128) if where == "header" else rng.integers(128, len(contents), size=60)
    for place in places:
        altered = bytearray(contents)
        altered[place] ^= 1 << int(rng.integers(8))
        file.write_bytes(altered)
        with pytest.raises(ValueError, match=r"logits.npy` must be"):
            Outputs.load(tmp_path / "run")


def test_a_folder_without_checksums_still_loads(tmp_path):
    Outputs(logits=2 * np.eye(3)).save(tmp_path / "run")
    header = json.loads((tmp_path / "run" / "outputs.json").read_text())
    for entry in header["arrays"].values():
        del entry["sha256"]
    (tmp_path / "run" / "outputs.json").write_text(json.dumps(header))
    assert len(Outputs.load(tmp_path / "run")) == 3
