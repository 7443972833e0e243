import numpy as np
import pytest
import torch
from PIL import Image

from abstain._extras import repair_torchvision
from abstain_reproduction.benchmarks.pixels import CIFAR, CLIP, IMAGENET
from abstain_reproduction.square import middle, resized, square


def torchvision_of(pixels):
    repair_torchvision()
    from torchvision import transforms

    modes = transforms.InterpolationMode
    return transforms.Compose(
        [
            transforms.Resize(pixels.resize, interpolation=modes[pixels.resampling], antialias=True),
            transforms.CenterCrop(pixels.crop),
            transforms.ToTensor(),
            transforms.Normalize(pixels.mean, pixels.std),
        ]
    )


@pytest.mark.parametrize("pixels", [IMAGENET, CLIP, CLIP.sized(336)], ids=["imagenet", "clip-224", "clip-336"])
@pytest.mark.parametrize("size", [(401, 300), (500, 334), (640, 427), (334, 500), (500, 375), (100, 333), (256, 256)])
def test_images_are_prepared_as_torchvision_does(pixels, size):
    values = np.random.default_rng(0).integers(0, 256, size=(*size[::-1], 3), dtype=np.uint8)
    image = Image.fromarray(values)
    np.testing.assert_allclose(pixels([image])[0], torchvision_of(pixels)(image).numpy(), atol=1e-5)
    assert torch.as_tensor(pixels([image, image])).shape == (2, 3, pixels.crop, pixels.crop)


@pytest.mark.parametrize("shorter", [224, 256, 336])
def test_every_size_is_torchvisions(shorter):
    repair_torchvision()
    from torchvision.transforms.functional import _compute_resized_output_size

    for width in range(1, 700, 3):
        for height in range(1, 700, 7):
            theirs = _compute_resized_output_size((height, width), [shorter])
            assert resized(width, height, shorter) == tuple(theirs[::-1])


def test_the_longer_side_is_rounded_down_and_half_a_pixel_goes_to_the_even_number():
    sides = np.arange(1, 3000)
    for short in (97, 334, 427, 480):
        longer = sides[sides >= short]
        expected = np.floor(np.longdouble(256) * longer / short + np.longdouble(1e-9)).astype(int)
        assert [resized(int(side), short, 256)[0] for side in longer] == expected.tolist()
    assert [middle(side, 224) for side in (224, 225, 226, 227, 228, 229, 383)] == [0, 0, 1, 2, 2, 2, 80]


def test_bytes_of_the_right_size_are_only_normalized():
    image = np.full((32, 32, 3), 255, dtype=np.uint8)
    assert CIFAR([image])[0, :, 0, 0] == pytest.approx((1 - np.array(CIFAR.mean)) / np.array(CIFAR.std), abs=1e-5)


def test_another_side_keeps_the_share_that_is_cropped():
    assert (IMAGENET.sized(112).resize, IMAGENET.sized(112).crop) == (128, 112)
    assert (CLIP.sized(224).resize, CLIP.sized(224).crop) == (224, 224)
    assert CIFAR.sized(32)([np.zeros((40, 48, 3), np.uint8)]).shape == (1, 3, 32, 32)


def test_a_small_image_is_made_large_enough():
    assert square(Image.new("RGB", (10, 30)), resize=256, crop=224).size == (224, 224)
