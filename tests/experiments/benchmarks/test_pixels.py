import numpy as np
import pytest
import torch
from PIL import Image

from abstain.collect.torchvision import mend_torchvision
from abstain.experiments.benchmarks.pixels import CIFAR, CLIP, IMAGENET, square


def test_images_are_prepared_as_torchvision_does():
    mend_torchvision()
    from torchvision import transforms

    pixels = np.random.default_rng(0).integers(0, 256, size=(300, 401, 3), dtype=np.uint8)
    image = Image.fromarray(pixels)
    theirs = transforms.Compose(
        [
            transforms.Resize(256, antialias=True),
            transforms.CenterCrop(224),
            transforms.ToTensor(),
            transforms.Normalize(IMAGENET.mean, IMAGENET.std),
        ]
    )(image)
    np.testing.assert_allclose(IMAGENET([image])[0], theirs.numpy(), atol=1e-5)
    assert torch.as_tensor(IMAGENET([image, image])).shape == (2, 3, 224, 224)


def test_bytes_of_the_right_size_are_only_normalized():
    image = np.full((32, 32, 3), 255, dtype=np.uint8)
    assert CIFAR([image])[0, :, 0, 0] == pytest.approx((1 - np.array(CIFAR.mean)) / np.array(CIFAR.std), abs=1e-5)


def test_another_side_keeps_the_share_that_is_cropped():
    assert (IMAGENET.sized(112).resize, IMAGENET.sized(112).crop) == (128, 112)
    assert (CLIP.sized(224).resize, CLIP.sized(224).crop) == (224, 224)
    assert CIFAR.sized(32)([np.zeros((40, 48, 3), np.uint8)]).shape == (1, 3, 32, 32)


def test_a_small_image_is_made_large_enough():
    assert square(Image.new("RGB", (10, 30)), resize=256, crop=224).size == (224, 224)
