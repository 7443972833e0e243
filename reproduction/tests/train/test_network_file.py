from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from abstain_reproduction.train.additive_margin import AdditiveMargin  # noqa: E402
from abstain_reproduction.train.checkpoint import load, save  # noqa: E402
from abstain_reproduction.train.cross_entropy import CrossEntropy  # noqa: E402
from abstain_reproduction.train.deep_gamblers import DeepGamblers  # noqa: E402
from abstain_reproduction.train.network_file import trained_network  # noqa: E402
from abstain_reproduction.train.predict import predict  # noqa: E402
from abstain_reproduction.train.recipe import Recipe  # noqa: E402
from abstain_reproduction.train.selective_net import Selective  # noqa: E402
from abstain_reproduction.train.training import train  # noqa: E402

RECIPE = Recipe(body="small_cnn", options={"side": 8}, objective=Selective(), classes=3, epochs=1, batch_size=10)
IMAGES = np.random.default_rng(0).integers(0, 256, size=(30, 8, 8), dtype=np.uint8)
LABELS = np.arange(30) % 3


@pytest.mark.parametrize(
    "objective", [Selective(coverage=0.8), CrossEntropy(), DeepGamblers(), AdditiveMargin(scale=9)]
)
def test_a_checkpoint_is_enough_to_have_the_network_again(objective, tmp_path):
    file = tmp_path / "run.safetensors"
    network = train(replace(RECIPE, objective=objective), IMAGES, LABELS, file)
    again = trained_network(file)
    assert not again.training
    first, second = (predict(each, IMAGES, LABELS) for each in (network, again))
    np.testing.assert_array_equal(first.logits, second.logits)
    assert first.confidence_names == second.confidence_names
    if first.confidences is not None:
        np.testing.assert_array_equal(first.confidences, second.confidences)


def altered(file, **changes):
    tensors, record = load(file)
    save(file, tensors, {name: value for name, value in (record | changes).items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"done": 1}, "must be a finished run, got 1 of 3 steps. Call train again"),
        ({"network": None}, "must describe its network, got a run of an earlier version"),
        (
            {"network": {"body": "small_cnn", "options": {}, "objective": {"name": "Mine"}, "classes": 3}},
            "must have a known objective .* got 'Mine' on 'small_cnn'",
        ),
    ],
)
def test_what_is_no_finished_run_of_ours_is_refused(changes, words, tmp_path):
    file = tmp_path / "run.safetensors"
    train(RECIPE, IMAGES, LABELS, file)
    altered(file, **changes)
    with pytest.raises(ValueError, match=words):
        trained_network(file)
