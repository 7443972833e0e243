"""Small classifiers to judge scores on."""

from dataclasses import replace

import numpy as np
import pytest

from abstain_reproduction.learned import classifiers
from abstain_reproduction.learned.classifiers import CLASSIFIERS, TrainedCNN
from abstain_reproduction.training.image_tasks import ImageTask


@pytest.fixture
def _task(monkeypatch):
    """A task of 8 classes that are bright in different rows."""
    rng = np.random.default_rng(0)

    def draw(n):
        labels = np.arange(n) % 8
        images = rng.integers(0, 60, size=(n, 28, 28)).astype(np.uint8)
        images[np.arange(n), labels] = 255
        return images, labels

    (images, labels), (clean, truth) = draw(256), draw(40)
    task = ImageTask(
        "", images, labels, clean, truth, clean[:10] // 2, np.array(["fog"] * 10), clean[:5, ::-1].copy(), "others"
    )
    monkeypatch.setattr(classifiers, "_task", lambda *_: task)


@pytest.mark.usefixtures("_task")
def test_a_forest_gives_probabilities_of_all_three_kinds(tmp_path):
    forest = replace(CLASSIFIERS["forest"], options={"n_estimators": 5})
    outputs = forest.outputs(tmp_path, seed=0, limit=None, progress=None)
    assert [(outputs.shift == kind).sum() for kind in ("none", "covariate", "label")] == [40, 10, 5]
    assert outputs.errors[outputs.shift == "label"].all()
    assert outputs.features is None


@pytest.mark.usefixtures("_task")
@pytest.mark.parametrize(
    ("name", "options"), [("boosted", {"max_iter": 2}), ("mlp", {"hidden_layer_sizes": (16,), "max_iter": 2})]
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_an_estimator_shows_logits_and_what_head_it_has(tmp_path, name, options):
    outputs = replace(CLASSIFIERS[name], options=options).outputs(tmp_path, seed=0, limit=None, progress=None)
    assert outputs.logits.shape == (55, 8)
    if name == "boosted":
        assert outputs.features is None
    else:
        np.testing.assert_allclose(outputs.features @ outputs.weight.T + outputs.bias, outputs.logits, atol=1e-5)


@pytest.mark.usefixtures("_task")
def test_a_network_is_trained_once_and_asked_of_all_three_kinds(tmp_path):
    pytest.importorskip("torch")
    model = TrainedCNN(source="fashion", train=256, epochs=1, smoothing=0.2)
    first, again = (model.outputs(tmp_path, seed=0, limit=None, progress=None) for _ in range(2))
    np.testing.assert_array_equal(first.logits, again.logits)
    assert len(list(tmp_path.glob("*.safetensors"))) == 1
    assert first.weight.shape == (8, first.features.shape[1])


def test_the_models_differ_in_how_sure_they_are():
    networks = [model for model in CLASSIFIERS.values() if isinstance(model, TrainedCNN)]
    assert any(model.smoothing > 0 for model in networks)
    assert any(model.sharpness > 1 for model in networks)
    assert any(model.objective == "logit_norm" for model in networks)


def test_a_sharpened_network_keeps_its_predictions_and_its_head(outputs_with_head):
    sharp = classifiers._sharpened(outputs_with_head, 4.0)
    np.testing.assert_array_equal(sharp.predictions, outputs_with_head.predictions)
    np.testing.assert_allclose(sharp.features @ sharp.weight.T + sharp.bias, sharp.logits)


@pytest.fixture
def outputs_with_head():
    from abstain.datasets import digits

    return digits().select(np.arange(50))
