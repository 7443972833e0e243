"""Noise and blur of a camera: each takes an image in [0, 1] (h, w, c), its strength and a generator."""

from math import ceil, cos, floor, radians, sin
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[Any]


def gaussian_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Sensor noise of one size everywhere."""
    return image + strength * rng.standard_normal(image.shape, dtype=np.float32)


def shot_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Noise of few photons: Poisson counts, of mean ``strength`` where the image is white."""
    return (rng.poisson(image * strength) / strength).astype(np.float32)


def impulse_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Salt and pepper on a share of the values."""
    hit = rng.random(image.shape, dtype=np.float32)
    return np.where(hit < strength / 2, np.float32(0), np.where(hit < strength, np.float32(1), image))


def speckle_noise(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Noise that grows with the brightness."""
    return image * (1 + strength * rng.standard_normal(image.shape, dtype=np.float32))


def smooth(image: Image, sigma: float) -> Image:
    """Gaussian blur with edges repeated, cut off at four standard deviations."""
    radius = int(4 * sigma + 0.5)
    if radius == 0:
        return image
    size = 2 * radius + 1
    blurred = cv2.GaussianBlur(image, (size, size), sigmaX=sigma, borderType=cv2.BORDER_REPLICATE)
    return blurred.reshape(image.shape)


def gaussian_blur(image: Image, strength: float, _: np.random.Generator) -> Image:
    """Out of focus, softly."""
    return smooth(image, strength)


def defocus_blur(image: Image, strength: tuple[float, float], _: np.random.Generator) -> Image:
    """Out of focus: a disk, its edge smoothed."""
    radius, edge = strength
    reach = max(8, ceil(radius))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disk = (x**2 + y**2 <= radius**2).astype(np.float32)
    size = 3 if radius <= 8 else 5
    disk = cv2.GaussianBlur(disk / disk.sum(), (size, size), sigmaX=edge)
    return cv2.filter2D(image, -1, disk).reshape(image.shape)


def glass_blur(image: Image, strength: tuple[float, int, int], rng: np.random.Generator) -> Image:
    """Frosted glass: pixels swapped with near ones between two light blurs."""
    sigma, reach, rounds = strength
    height, width, channels = image.shape
    pixels = list(range(height * width))
    inner = np.arange(height * width).reshape(height, width)[reach : height - reach, reach : width - reach]
    last_to_first = inner.ravel()[::-1]
    for _ in range(rounds):
        steps = rng.integers(-reach, reach, size=(last_to_first.size, 2))
        partners = last_to_first + steps[:, 0] * width + steps[:, 1]
        for a, b in zip(last_to_first.tolist(), partners.tolist(), strict=True):
            pixels[a], pixels[b] = pixels[b], pixels[a]
    swapped = smooth(image, sigma).reshape(-1, channels)[pixels]
    return smooth(np.ascontiguousarray(swapped.reshape(image.shape)), sigma)


def motion_blur(image: Image, strength: tuple[float, float], rng: np.random.Generator) -> Image:
    """A moving camera: a one-sided Gaussian streak at a random angle within 45 degrees of level."""
    radius, sigma = strength
    return streak(image, radius, sigma, rng.uniform(-45, 45))


def streak(image: Image, radius: float, sigma: float, angle: float) -> Image:
    """Blur along a line from each pixel, with weights of half a Gaussian."""
    length = 2 * int(radius) + 1
    kernel = np.zeros((2 * length + 1, 2 * length + 1), dtype=np.float32)
    weights = np.exp(-np.square(np.arange(length)) / (2 * sigma**2))
    for step, weight in enumerate(weights / weights.sum()):
        _spread(kernel, length + step * sin(radians(angle)), length + step * cos(radians(angle)), float(weight))
    return cv2.filter2D(image, -1, kernel, borderType=cv2.BORDER_REPLICATE).reshape(image.shape)


def zoom_blur(image: Image, strength: tuple[float, float], _: np.random.Generator) -> Image:
    """A zooming camera: the mean of the image at rising magnifications."""
    stop, step = strength
    factors = np.arange(1, stop, step)
    total = image.copy()
    for factor in factors:
        total += magnify(image, float(factor))
    return total / (len(factors) + 1)


def magnify(image: Image, factor: float) -> Image:
    """The middle of the image, enlarged to its size."""
    height, width = image.shape[:2]
    centre_x, centre_y = (width - 1) / 2, (height - 1) / 2
    matrix = np.array([[factor, 0, (1 - factor) * centre_x], [0, factor, (1 - factor) * centre_y]])
    moved = cv2.warpAffine(image, matrix, (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return moved.reshape(image.shape)


def _spread(kernel: NDArray[Any], row: float, column: float, weight: float) -> None:
    """Share a weight among the four cells around a point."""
    top, left = floor(row), floor(column)
    down, right = row - top, column - left
    for i, share_i in ((top, 1 - down), (top + 1, down)):
        for j, share_j in ((left, 1 - right), (left + 1, right)):
            if share_i * share_j > 0:
                kernel[i, j] += weight * share_i * share_j
