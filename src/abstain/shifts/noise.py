"""Noise: each takes an image in [0, 1] (h, w, c), its strength and a generator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Image = NDArray[Any]


def gaussian_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Sensor noise of one size everywhere."""
    return image + strength * rng.standard_normal(image.shape, dtype=np.float32)


def shot_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Noise of few photons: Poisson counts with ``strength`` for white."""
    return (rng.poisson(image * strength) / strength).astype(np.float32)


def impulse_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Salt and pepper on a share of the values."""
    hit = rng.random(image.shape, dtype=np.float32)
    return np.where(hit < strength / 2, np.float32(0), np.where(hit < strength, np.float32(1), image))


def speckle_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Noise that grows with the brightness."""
    return image * (1 + strength * rng.standard_normal(image.shape, dtype=np.float32))
