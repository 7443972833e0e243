import numpy as np
import pytest


@pytest.fixture
def blobs():
    """Images of 8 x 8 pixels in three classes: a bright row, a bright column, or noise."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=192)
    images = rng.integers(100, size=(192, 8, 8), dtype=np.uint8)
    at = rng.integers(8, size=192)
    images[labels == 0, at[labels == 0]] = 255
    images[labels == 1, :, at[labels == 1]] = 255
    return images, labels
