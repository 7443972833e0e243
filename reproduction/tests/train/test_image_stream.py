import numpy as np
import pytest

torch = pytest.importorskip("torch")
image_module = pytest.importorskip("PIL.Image")

from abstain_reproduction.train.augmentation import Augmentation  # noqa: E402
from abstain_reproduction.train.image_stream import StreamedImages  # noqa: E402
from abstain_reproduction.train.recipe import Recipe  # noqa: E402
from abstain_reproduction.train.selective_net import Selective  # noqa: E402
from abstain_reproduction.train.training import train  # noqa: E402

RECIPE = Recipe(
    body="small_cnn",
    options={"channels": 3, "side": 20},
    objective=Selective(),
    classes=2,
    epochs=2,
    batch_size=8,
    augmentation=Augmentation(window=20, flip=True),
)


@pytest.fixture
def folder(tmp_path):
    """24 images of two classes, of several sizes."""
    rng = np.random.default_rng(0)
    for number in range(24):
        pixels = rng.integers(0, 120, size=(30 + number % 3, 40, 3))
        pixels[..., number % 2] += 120
        file = tmp_path / "train" / f"n{number % 2}" / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        image_module.fromarray(pixels.astype(np.uint8)).save(file)
    return tmp_path / "train"


def test_images_on_disk_train_to_the_same_weights_as_in_memory(folder, tmp_path):
    images, labels = StreamedImages.of_folder(folder, side=24)
    assert images.shape == (24, 24, 24, 3)
    assert labels.tolist() == [0] * 12 + [1] * 12
    streamed = train(RECIPE, images, labels, tmp_path / "streamed.safetensors", seed=3)
    in_memory = train(RECIPE, images[np.arange(24)], labels, tmp_path / "memory.safetensors", seed=3)
    for first, second in zip(streamed.parameters(), in_memory.parameters(), strict=True):
        assert torch.equal(first, second)


def test_no_more_than_a_batch_is_read_at_once(folder, tmp_path, monkeypatch):
    images, labels = StreamedImages.of_folder(folder, side=24)
    asked = []
    read = StreamedImages.__getitem__
    monkeypatch.setattr(StreamedImages, "__getitem__", lambda self, rows: asked.append(len(rows)) or read(self, rows))
    train(RECIPE, images, labels, tmp_path / "run.safetensors")
    assert asked == [8] * 6


def test_another_file_is_another_run(folder, tmp_path):
    images, labels = StreamedImages.of_folder(folder, side=24)
    train(RECIPE, images, labels, tmp_path / "run.safetensors")
    image_module.new("RGB", (40, 40)).save(folder / "n0" / "0.png")
    with pytest.raises(ValueError, match="begun with other images"):
        train(RECIPE, images, labels, tmp_path / "run.safetensors")


def test_images_outside_of_classes_are_refused(folder):
    with pytest.raises(ValueError, match="`folder` must have a subfolder for each class"):
        StreamedImages.of_folder(folder / "n0")
