import numpy as np
import pytest

from abstain.collect import Data, collect
from abstain_reproduction.real_models import imagenet_few
from abstain_reproduction.real_models.imagenet_few import BENCHMARK, FOOLBOX, MOBILENET, RESNET50, square

NEEDS = {"resnet50": [RESNET50], "mobilenet": [MOBILENET], "efficientnet-lite0": []}


def test_the_middle_of_a_photograph_is_taken():
    image = pytest.importorskip("PIL.Image")
    pixels = np.zeros((100, 300, 3), dtype=np.uint8)
    pixels[:, 100:200] = 7
    assert (square(image.fromarray(pixels)) == 7).all()
    assert square(image.fromarray(pixels[..., 0])).shape == (224, 224, 3)


@pytest.mark.parametrize("name", NEEDS)
def test_the_networks_know_an_espresso(name, tmp_path, fetched):
    pytest.importorskip("skimage")
    fetched(*NEEDS[name])
    from skimage import data

    outputs = collect(
        imagenet_few.MODELS[name](), Data([data.coffee()[:, 100:500][88:312, 88:312]], labels=np.array([967])),
        tmp_path / "run",
    )  # fmt: skip
    assert outputs.n_classes == 1000
    assert 967 in np.argsort(outputs.logits[0])[-3:]
    assert outputs.check_head().agrees


def test_every_image_is_there_and_each_is_corrupted_thrice(fetched):
    pytest.importorskip("skimage")
    fetched(BENCHMARK, FOOLBOX)
    known, *corrupted, unknown = imagenet_few.data(0)
    assert len(known) == 70
    assert known.labels[-1] == 305  # imagenet_19_305.jpg
    assert sum(map(len, corrupted)) == 3 * 70
    assert len(corrupted) == 19
    assert len(unknown) == 8
    assert known[0].shape == (224, 224, 3)
