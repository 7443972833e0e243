"""Damaged shards: computed again to the same bytes, or one clear line; never silently wrong."""

import os
import shutil

import numpy as np
import pytest

from abstain.collect import Data, Model, collect

N = 400
X = np.random.default_rng(0).normal(size=(N, 6)).astype(np.float32)
Y = np.random.default_rng(1).integers(3, size=N)
W = np.random.default_rng(2).normal(size=(3, 6)).astype(np.float32)


class Linear(Model):
    """A model with a head; it can be told to stop after some batches."""

    name = "linear"

    def __init__(self, batches=10**9):
        self.left, self.seen = batches, False

    def run(self, inputs):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.seen = True
        x = np.stack(inputs)
        return x @ W.T, x

    def head(self):
        return (W, None) if self.seen else (None, None)


def run(folder, batches=10**9):
    return collect(Linear(batches), Data(X, labels=Y), folder, batch_size=20, shard_size=40)


def contents(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(folder)
    return contents(folder)


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory):
    """What a run leaves that was stopped after seven of ten shards."""
    folder = tmp_path_factory.mktemp("cut")
    with pytest.raises(KeyboardInterrupt):
        run(folder / "run", batches=14)
    return folder / ".run.collect"


def shard(work, number):
    return sorted(work.glob("shard-*"))[number]


def flip(file, position, bit=0):
    """Flip a bit at a fraction of the file, or at a byte from its end."""
    damaged = bytearray(file.read_bytes())
    at = round(position * (len(damaged) - 1)) if isinstance(position, float) else position
    damaged[at] ^= 1 << bit
    file.write_bytes(damaged)


def swap_name(file, old, new):
    """A member under another name, wherever the format writes names."""
    assert old in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(old, new))


def in_last(file, old, new):
    """The same in the last place alone, as in a central directory."""
    before = file.read_bytes()
    at = before.rindex(old)
    file.write_bytes(before[:at] + new + before[at + len(old) :])


DAMAGES = {
    **{f"bit {bit} at {position}": (3, lambda f, p=position, b=bit: flip(f, p, b)) for bit, position in enumerate(
        (0.0, 0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9)
    )},
    **{f"bit at byte {position} from the end": (2, lambda f, p=position: flip(f, p)) for position in (
        -1, -2, -5, -10, -16, -20, -22, -30, -46, -60, -80, -100, -120, -150, -200, -260
    )},
    **{f"cut to {share}": (1, lambda f, s=share: os.truncate(f, int(s * f.stat().st_size))) for share in (
        0.0, 0.01, 0.2, 0.5, 0.9, 0.999
    )},
    "one byte more": (0, lambda f: f.write_bytes(f.read_bytes() + b"\0")),
    "features renamed": (4, lambda f: swap_name(f, b"features", b"featurez")),
    "features renamed in the last place": (4, lambda f: in_last(f, b"features", b"featurez")),
    "logits renamed": (4, lambda f: swap_name(f, b"logits", b"logitz")),
    "logits renamed in the last place": (4, lambda f: in_last(f, b"logits", b"logitz")),
    "rows renamed": (0, lambda f: swap_name(f, b"rows", b"rows"[::-1])),
    "missing": (5, lambda f: f.unlink()),
    "another shard's contents": (5, lambda f: shutil.copy(shard(f.parent, 1), f)),
    "zeros": (5, lambda f: f.write_bytes(bytes(f.stat().st_size))),
    "text": (5, lambda f: f.write_text("dear diary")),
    "a folder": (5, lambda f: (f.unlink(), f.mkdir())),
    "a link to nothing": (5, lambda f: (f.unlink(), f.symlink_to("nowhere"))),
    "settings: bit": (None, lambda w: flip(w / "settings.json", 0.5)),
    "settings: cut": (None, lambda w: os.truncate(w / "settings.json", 7)),
    "settings: missing": (None, lambda w: (w / "settings.json").unlink()),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_run_ends_with_the_bytes_of_one_that_was_not(name, cut_off, whole, tmp_path):
    which, damage = DAMAGES[name]
    work = tmp_path / ".run.collect"
    shutil.copytree(cut_off, work)
    damage(work if which is None else shard(work, which))
    if name == "a folder":  # cannot be replaced by a file: one line, with its name
        with pytest.raises(FileExistsError, match=r"shard-.*` must be a file to write, got a folder"):
            run(tmp_path / "run")
        return
    run(tmp_path / "run")
    assert contents(tmp_path / "run") == whole


def test_a_run_stopped_before_its_end_takes_the_head_from_its_shards(whole, tmp_path, monkeypatch):
    import abstain.collect.run as module

    with monkeypatch.context() as patch:
        patch.setattr(module.Outputs, "save", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(tmp_path / "run")
    run(tmp_path / "run", batches=0)
    assert contents(tmp_path / "run") == whole


def test_a_shard_damaged_while_the_run_ends_is_an_error_and_then_mended(whole, tmp_path, monkeypatch):
    from abstain.collect.shards import Shards

    joined = Shards.joined

    def damaged(self, scratch):
        flip(shard(self.work, 2), 0.5)
        return joined(self, scratch)

    with monkeypatch.context() as patch:
        patch.setattr(Shards, "joined", damaged)
        with pytest.raises(ValueError, match=r"shard-0.*` must be a whole shard of this run, got .* Run again"):
            run(tmp_path / "run")
    run(tmp_path / "run")
    assert contents(tmp_path / "run") == whole


def test_only_what_is_damaged_is_computed_again(cut_off, tmp_path):
    work = tmp_path / ".run.collect"
    shutil.copytree(cut_off, work)
    flip(shard(work, 3), 0.5)
    model = Linear(8)  # two batches of the damaged shard, six of the three that were missing
    collect(model, Data(X, labels=Y), tmp_path / "run", batch_size=20, shard_size=40)
    assert model.left == 0


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, first: (x, x) if first else (x, None), "features with all of its logits or with none"),
        (lambda x, first: x if first else x[:, :2], "must give logits of one type and width, got float32"),
        (lambda x, first: x if first else x.astype(np.float64), "one type and width, got float32 .* and float64"),
    ],
)
def test_a_model_that_changes_its_form_is_refused(function, message, tmp_path):
    from abstain.collect import CallableModel

    calls = []

    def changing(inputs):
        calls.append(1)
        return function(np.stack(inputs), len(calls) < 2)

    size = 40 if "features" in message else 20
    with pytest.raises(ValueError, match=message):
        collect(CallableModel(changing), Data(X, labels=Y), tmp_path / "run", batch_size=20, shard_size=size)
