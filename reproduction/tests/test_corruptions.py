import numpy as np
import pytest

from abstain.collect import Data
from abstain.shifts import CORRUPTIONS, corrupt
from abstain_reproduction.corruptions import corrupted, corrupted_by

IMAGES = np.random.default_rng(0).integers(0, 256, size=(3, 32, 32, 3), dtype=np.uint8)
DATA = Data(IMAGES, labels=np.arange(3), ids=np.array(["a", "b", "c"]))


def test_every_corruption_is_a_domain_of_the_same_samples():
    parts = corrupted(DATA, 0)
    assert [part.domain for part in parts] == [f"{name}-3" for name in CORRUPTIONS]
    assert all(part.ids.tolist() == ["a", "b", "c"] and part.shift == "covariate" for part in parts)


@pytest.mark.parametrize("row", [0, 2])
def test_the_noise_is_that_of_seed_and_row(row):
    expected = corrupt(IMAGES[row], "gaussian_noise", severity=3, seed=5 + row)
    assert (np.asarray(corrupted_by("gaussian_noise", DATA, 5)[row]) == expected).all()


def test_images_are_cut_before_they_are_corrupted():
    part = corrupted_by("fog", DATA, 0, cut=lambda image: image[:16, :24])
    assert part[0].size == (24, 16)
