import pickle
from pathlib import Path

import numpy as np
import pytest

from abstain import Outputs


def test_npz(make, tmp_path):
    o = make()
    np.savez(tmp_path / "run.npz", logits=o.logits, labels=o.labels, class_names=np.array(o.class_names))
    loaded = Outputs.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded.labels, o.labels)
    assert loaded.class_names == o.class_names


def test_an_npz_of_probabilities(tmp_path):
    p = np.array([[0.2, 0.8], [0.7, 0.3]])
    np.savez(tmp_path / "run.npz", probabilities=p, labels=[1, 1])
    loaded = Outputs.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded.logits, Outputs(probabilities=p).logits)
    np.testing.assert_array_equal(loaded.errors, [False, True])
    np.savez(tmp_path / "both.npz", probabilities=p, logits=p)
    with pytest.raises(ValueError, match="must hold arrays named logits or probabilities, and any of"):
        Outputs.load(tmp_path / "both.npz")


def test_the_paper_authors_folder(make, tmp_path):
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


def test_pickled_arrays_are_refused_and_never_run(make, tmp_path):
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
def test_truncated_arrays_are_refused(make, tmp_path, length):
    make().save(tmp_path)
    file = tmp_path / "logits.npy"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"logits.npy` must be a whole .npy array"):
        Outputs.load(tmp_path)


def test_truncated_npz_is_refused(make, tmp_path):
    np.savez(tmp_path / "run.npz", logits=make().logits)
    data = (tmp_path / "run.npz").read_bytes()
    (tmp_path / "run.npz").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r"must be a whole .npz file"):
        Outputs.load(tmp_path / "run.npz")


def test_an_npz_with_other_names_says_which(tmp_path):
    np.savez(tmp_path / "run.npz", scores=np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"must hold arrays named logits or probabilities, and any of .* got scores"):
        Outputs.load(tmp_path / "run.npz")


def test_a_single_array_is_not_outputs(tmp_path):
    np.save(tmp_path / "logits.npy", np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"must be a whole .npz file .* got a single array"):
        Outputs.load(tmp_path / "logits.npy")


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
    positions = range(128) if where == "header" else rng.integers(128, len(contents), size=60)
    for position in positions:
        altered = bytearray(contents)
        altered[position] ^= 1 << int(rng.integers(8))
        file.write_bytes(altered)
        with pytest.raises(ValueError, match=r"logits.npy` must be"):
            Outputs.load(tmp_path / "run")
