import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.augmentation import Augmentation  # noqa: E402
from abstain_reproduction.train.checkpoint import load, save  # noqa: E402
from abstain_reproduction.train.cross_entropy import CrossEntropy  # noqa: E402
from abstain_reproduction.train.predict import predict  # noqa: E402
from abstain_reproduction.train.recipe import Recipe  # noqa: E402
from abstain_reproduction.train.self_adaptive import SelfAdaptive  # noqa: E402
from abstain_reproduction.train.training import train  # noqa: E402

RECIPE = Recipe(
    body="small_cnn",
    options={"side": 8, "dropout": 0.2},
    objective=SelfAdaptive(),
    classes=3,
    epochs=3,
    batch_size=32,
    augmentation=Augmentation(pad=1, flip=True),
)


class Stopped(Exception):  # noqa: N818
    pass


def stop_after(steps):
    def progress(done, _):
        if done == steps:
            raise Stopped

    return progress


def test_a_network_learns(blobs, tmp_path):
    images, labels = blobs
    recipe = replace(RECIPE, objective=CrossEntropy(), epochs=12, augmentation=Augmentation())
    network = train(recipe, images, labels, tmp_path / "run")
    assert predict(network, images, labels).errors.mean() < 0.1


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(blobs, tmp_path):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    train(RECIPE, *blobs, tmp_path / "a", seed=5)
    assert torch.equal(torch.random.get_rng_state(), before)  # the user's own stream is left alone
    torch.manual_seed(2)
    train(RECIPE, *blobs, tmp_path / "b", seed=5)
    train(RECIPE, *blobs, tmp_path / "c", seed=6)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize("steps", [1, 5, 6, 7, 17])
def test_a_run_that_was_stopped_anywhere_goes_on_to_the_same_bytes(blobs, tmp_path, steps):
    train(RECIPE, *blobs, tmp_path / "whole")
    with pytest.raises(Stopped):
        train(RECIPE, *blobs, tmp_path / "cut", every=0, progress=stop_after(steps))
    seen = []
    train(RECIPE, *blobs, tmp_path / "cut", progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 18) for done in range(steps + 1, 19)]
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


CHILD = """
import sys, time
import numpy as np
from abstain_reproduction.train.training import train
from tests_recipe import RECIPE
data = np.load(sys.argv[1])
slow = lambda done, total: time.sleep(0.02)
train(RECIPE, data["images"], data["labels"], sys.argv[2], every=0, progress=slow)
"""
SHARED = """
from abstain_reproduction.train.augmentation import Augmentation
from abstain_reproduction.train.recipe import Recipe
from abstain_reproduction.train.self_adaptive import SelfAdaptive
RECIPE = {recipe}
"""


def test_killed_without_warning_it_goes_on_to_the_same_bytes(blobs, tmp_path):
    recipe = replace(RECIPE, epochs=30)
    np.savez(tmp_path / "data.npz", images=blobs[0], labels=blobs[1])
    plain = repr(recipe).replace("schedule=Cosine(), ", "")
    (tmp_path / "tests_recipe.py").write_text(SHARED.format(recipe=plain))
    cut = tmp_path / "cut"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path / "data.npz"), str(cut)], env=os.environ | {"PYTHONPATH": path}
    )
    deadline = time.monotonic() + 60
    while not cut.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)  # somewhere that nobody chose
    child.send_signal(signal.SIGKILL)
    child.wait()
    done = []
    train(recipe, *blobs, cut, progress=lambda steps, _: done.append(steps))
    assert 1 < done[0] < 180
    train(recipe, *blobs, tmp_path / "whole")
    assert cut.read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_run_that_is_done_is_not_done_again(blobs, tmp_path):
    first = train(RECIPE, *blobs, tmp_path / "run")
    second = train(RECIPE, *blobs, tmp_path / "run", progress=stop_after(1))
    assert not second.training
    for name, value in first.state_dict().items():
        assert torch.equal(value, second.state_dict()[name])


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"lr": 0.05}, "lr"),
        ({"objective": SelfAdaptive(momentum=0.8)}, "objective"),
        ({"objective": CrossEntropy()}, "objective, loss"),
        ({"augmentation": Augmentation()}, "augmentation"),
        ({"epochs": 4, "batch_size": 16}, "epochs, batch_size"),
    ],
)
def test_another_recipe_is_refused_by_name(blobs, tmp_path, change, named):
    train(RECIPE, *blobs, tmp_path / "run")
    with pytest.raises(ValueError, match=rf"`file` must be new for another run, got .*, begun with other {named}\. "):
        train(replace(RECIPE, **change), *blobs, tmp_path / "run")


def test_other_data_seeds_and_threads_are_refused_by_name(blobs, tmp_path):
    images, labels = blobs
    train(RECIPE, images, labels, tmp_path / "run")
    with pytest.raises(ValueError, match=r"begun with other images\. "):
        train(RECIPE, images[:, ::-1], labels, tmp_path / "run")
    with pytest.raises(ValueError, match=r"begun with other labels\. "):
        train(RECIPE, images, labels[::-1], tmp_path / "run")
    with pytest.raises(ValueError, match=r"begun with other seed\. "):
        train(RECIPE, images, labels, tmp_path / "run", seed=1)
    with pytest.raises(ValueError, match=r"begun with other threads\. "):
        train(RECIPE, images, labels, tmp_path / "run", threads=2)


def test_a_file_of_something_else_is_refused(blobs, tmp_path):
    (tmp_path / "run").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="run` must be a checkpoint of a training run, got SafetensorError"):
        train(RECIPE, *blobs, tmp_path / "run")
    import safetensors.torch

    safetensors.torch.save_file({"a": torch.zeros(1)}, tmp_path / "other")
    with pytest.raises(ValueError, match="other` must be a checkpoint of a training run, got KeyError"):
        train(RECIPE, *blobs, tmp_path / "other")
    safetensors.torch.save_file({"a": torch.zeros(1)}, tmp_path / "third", metadata={"abstain": "[1]"})
    with pytest.raises(ValueError, match="third` must be a checkpoint of a training run, got contents that are none"):
        train(RECIPE, *blobs, tmp_path / "third")
    safetensors.torch.save_file({"a": torch.zeros(1)}, tmp_path / "fourth", metadata={"abstain": "{}"})
    with pytest.raises(ValueError, match="fourth` must be a checkpoint of a training run as it was saved"):
        train(RECIPE, *blobs, tmp_path / "fourth")


def test_a_loss_that_is_not_finite_stops_the_run(blobs, tmp_path):
    with pytest.raises(FloatingPointError, match=r"`lr` must let the loss stay finite, got (nan|inf) in epoch 1"):
        train(replace(RECIPE, lr=1e30), *blobs, tmp_path / "run")


def test_images_and_labels_are_checked(blobs, tmp_path):
    images, labels = blobs
    with pytest.raises(ValueError, match="`images` must be bytes of shape"):
        train(RECIPE, images / 255, labels, tmp_path / "run")
    with pytest.raises(ValueError, match="`labels` must have one for each of 192 images"):
        train(RECIPE, images, labels[1:], tmp_path / "run")
    with pytest.raises(ValueError, match="`labels` must be from 0 to 2, got 1 to 3"):
        train(RECIPE, images, labels + 1, tmp_path / "run")


def test_a_recipe_of_no_epochs_is_refused():
    with pytest.raises(ValueError, match="`epochs` must be at least 1, got 0"):
        replace(RECIPE, epochs=0)


def test_fewer_samples_than_a_batch_are_one_batch(blobs, tmp_path):
    images, labels = blobs
    steps = []
    train(RECIPE, images[:10], labels[:10], tmp_path / "run", progress=lambda _, total: steps.append(total))
    assert steps == [3, 3, 3]


@pytest.mark.parametrize(
    ("tensors", "record"),
    [
        ({}, {"done": 10**9}),
        ({}, {"done": -1}),
        ({}, {"done": "7"}),
        ({}, {"losses": "abc"}),
        ({}, {"sum": None}),
        ({"trust": torch.ones(3)}, {}),
        ({"momentum.body.0.weight": torch.zeros(1)}, {}),
    ],
)
def test_a_checkpoint_of_other_steps_or_shapes_is_refused(blobs, tmp_path, tensors, record):
    with pytest.raises(Stopped):
        train(RECIPE, *blobs, tmp_path / "run", every=0, progress=stop_after(7))
    before = load(tmp_path / "run")
    save(tmp_path / "run", before[0] | tensors, before[1] | record)
    with pytest.raises(ValueError, match="run` must be a checkpoint of a training run, got other steps or shapes"):
        train(RECIPE, *blobs, tmp_path / "run")


@pytest.mark.parametrize("shape", [(4, 8, 8), (4, 8, 8, 3)])
def test_images_are_laid_out_channel_by_channel(shape):
    """Side by side, convolutions of few channels write beyond their memory on processors without AVX-512."""
    from abstain_reproduction.train.pixels import pixels

    assert pixels(np.zeros(shape, dtype=np.uint8)).is_contiguous()
