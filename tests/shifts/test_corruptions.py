import zlib

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from abstain.shifts import CORRUPTIONS, corrupt
from abstain.shifts.camera import magnify, streak
from abstain.shifts.digital import brightness, saturate
from abstain.shifts.weather import plasma

RNG = np.random.default_rng(0)


def photograph(side=64, channels=3):
    """Something with edges, shades and colours."""
    y, x = np.mgrid[:side, :side] / side
    layers = [x, y, (x > 0.5) * 0.8, np.hypot(x - 0.5, y - 0.5)]
    image = np.stack([layers[c % 4] * 0.6 + 0.2 * (y > 0.3) for c in range(channels)], axis=2)
    return np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)


every_corruption = pytest.mark.parametrize("name", CORRUPTIONS)


def test_there_are_nineteen():
    assert len(CORRUPTIONS) == 19


@every_corruption
@pytest.mark.parametrize("shape", [(32, 32, 3), (32, 32), (28, 28, 1), (40, 60, 3), (128, 100, 3)])
def test_shape_and_type_are_kept_at_every_severity(name, shape):
    image = np.resize(photograph(max(shape[:2])), shape) if len(shape) == 3 else photograph(shape[0])[..., 0]
    for severity in range(1, 6):
        corrupted = corrupt(image, name, severity=severity)
        assert corrupted.shape == image.shape
        assert corrupted.dtype == np.uint8


@every_corruption
def test_the_same_seed_gives_the_same_bytes(name):
    image = photograph()
    assert corrupt(image, name, seed=4).tobytes() == corrupt(image, name, seed=4).tobytes()


@every_corruption
def test_the_image_given_is_left_alone(name):
    image = photograph()
    before = image.copy()
    corrupt(image, name, severity=5)
    np.testing.assert_array_equal(image, before)


RANDOM = [
    n
    for n in CORRUPTIONS
    if n.endswith("noise") or n in ("glass_blur", "motion_blur", "snow", "frost", "fog", "spatter")
]


@pytest.mark.parametrize("name", RANDOM)
def test_another_seed_gives_another_image(name):
    image = photograph()
    assert (corrupt(image, name, severity=5, seed=1) != corrupt(image, name, severity=5, seed=2)).any()


def distance(a, b):
    return np.abs(a.astype(float) - b.astype(float)).mean()


@pytest.mark.parametrize("name", [n for n in CORRUPTIONS if n not in ("saturate", "elastic", "spatter", "glass_blur")])
@pytest.mark.parametrize("side", [32, 224])
def test_the_worst_severity_is_farther_from_the_image_than_the_mildest(name, side):
    image = photograph(side)
    seeds = range(5)
    mild, worst = (np.mean([distance(corrupt(image, name, severity=s, seed=k), image) for k in seeds]) for s in (1, 5))
    assert worst > mild > 0


@every_corruption
def test_large_and_small_images_get_their_published_strengths(name):
    from abstain.shifts.severities import LARGE, SMALL

    assert len(SMALL[name]) == len(LARGE[name]) == 5


def test_gaussian_noise_has_the_published_size():
    grey = np.full((96, 96, 3), 128, dtype=np.uint8)
    result = (corrupt(grey, "gaussian_noise", severity=5).astype(float) / 255).std()
    assert result == pytest.approx(0.10, rel=0.05)


def test_gaussian_blur_agrees_with_scipy():
    image = photograph(48)
    expected = np.stack([gaussian_filter(image[..., c].astype(float), 1.0, mode="nearest") for c in range(3)], axis=2)
    np.testing.assert_allclose(corrupt(image, "gaussian_blur", severity=5), expected, atol=1.1)


def test_contrast_pulls_to_the_mean_of_each_channel():
    image = photograph(48)
    mean = image.mean(axis=(0, 1))
    np.testing.assert_allclose(corrupt(image, "contrast", severity=1), (image - mean) * 0.75 + mean, atol=0.6)


def test_brightness_and_saturation_agree_with_hsv():
    from matplotlib.colors import hsv_to_rgb, rgb_to_hsv

    image = photograph(32).astype(np.float32) / 255
    hsv = rgb_to_hsv(image)
    brighter = hsv_to_rgb(np.dstack([hsv[..., 0], hsv[..., 1], np.clip(hsv[..., 2] + 0.2, 0, 1)]))
    np.testing.assert_allclose(brightness(image, 0.2, None), brighter, atol=1e-5)
    stronger = hsv_to_rgb(np.dstack([hsv[..., 0], np.clip(hsv[..., 1] * 2 + 0.1, 0, 1), hsv[..., 2]]))
    np.testing.assert_allclose(saturate(image, (2, 0.1), None), stronger, atol=1e-5)


def test_impulse_noise_hits_the_published_share():
    grey = np.full((96, 96, 3), 128, dtype=np.uint8)
    hit = corrupt(grey, "impulse_noise", severity=5) != 128
    assert hit.mean() == pytest.approx(0.07, rel=0.1)


def test_a_streak_keeps_the_total_light():
    dot = np.zeros((41, 41, 1), dtype=np.float32)
    dot[20, 20] = 1
    assert streak(dot, 6, 2, 30.0).sum() == pytest.approx(1, rel=1e-5)


def test_magnifying_by_one_changes_nothing():
    image = photograph(32).astype(np.float32)
    np.testing.assert_array_equal(magnify(image, 1.0), image)


@pytest.mark.parametrize("shape", [(32, 32), (50, 20), (1, 1)])
def test_plasma_fills_the_unit_interval(shape):
    texture = plasma(*shape, 2.0, np.random.default_rng(0))
    assert texture.shape == shape
    assert 0 <= texture.min() <= texture.max() <= 1


def test_the_generator_depends_on_the_name():
    assert zlib.crc32(b"fog") != zlib.crc32(b"snow")
    noise = [corrupt(photograph(), name, seed=0) for name in ("gaussian_noise", "speckle_noise")]
    assert (noise[0] != noise[1]).any()


@pytest.mark.parametrize(
    ("image", "options", "error", "message"),
    [
        (photograph(), {"name": "rain"}, ValueError, "`name` must be one of gaussian_noise"),
        (photograph(), {"name": "fog", "severity": 6}, ValueError, "`severity` must be 1, 2, 3, 4 or 5, got 6"),
        (photograph() / 255, {"name": "fog"}, TypeError, "`image` must be uint8"),
        (photograph(channels=4), {"name": "fog"}, TypeError, r"got uint8 of \(64, 64, 4\)"),
    ],
)
def test_bad_arguments_are_named(image, options, error, message):
    name = options.pop("name")
    with pytest.raises(error, match=message):
        corrupt(image, name, **options)
