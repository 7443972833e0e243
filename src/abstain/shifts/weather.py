"""Weather: each takes an image in [0, 1] (h, w, c), its strength and a generator."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from abstain.shifts.camera import magnify, smooth, streak

Image = NDArray[Any]
LUMINANCE = np.array([0.299, 0.587, 0.114], dtype=np.float32)
ICE = np.array([0.78, 0.88, 1.0], dtype=np.float32)
WATER = np.array([175, 238, 238], dtype=np.float32) / 255
MUD = np.array([63, 42, 20], dtype=np.float32) / 255


def grey(image: Image) -> Image:
    """Luminance (h, w, 1)."""
    return image if image.shape[2] == 1 else (image @ LUMINANCE)[..., None]


def tint(colour: Image, channels: int) -> Image:
    """A colour for an image of one or three channels."""
    return colour if channels == 3 else np.full(channels, colour @ LUMINANCE, dtype=np.float32)


def plasma(height: int, width: int, decay: float, rng: np.random.Generator) -> Image:
    """A cloudy texture in [0, 1] (height, width), by midpoint displacement on a torus; ``decay`` smooths it."""
    size = 1 << max(1, (max(height, width) - 1).bit_length())
    field = np.zeros((1, 1))
    noise = 1.0
    while len(field) < size:
        finer = np.empty((2 * len(field), 2 * len(field)))
        finer[::2, ::2] = field
        right, down = np.roll(field, -1, axis=1), np.roll(field, -1, axis=0)
        centre = (field + right + down + np.roll(right, -1, axis=0)) / 4 + noise * rng.uniform(-1, 1, field.shape)
        finer[1::2, 1::2] = centre
        finer[::2, 1::2] = (field + right + centre + np.roll(centre, 1, axis=0)) / 4 + noise * rng.uniform(
            -1, 1, field.shape
        )
        finer[1::2, ::2] = (field + down + centre + np.roll(centre, 1, axis=1)) / 4 + noise * rng.uniform(
            -1, 1, field.shape
        )
        field = finer
        noise /= decay
    field = field[:height, :width] - field.min()
    return (field / max(field.max(), 1e-12)).astype(np.float32)


def fog(image: Image, strength: tuple[float, float], rng: np.random.Generator) -> Image:
    """A bank of fog, brighter than the scene."""
    amount, decay = strength
    brightest = float(image.max())
    thick = image + amount * plasma(image.shape[0], image.shape[1], decay, rng)[..., None]
    return thick * (brightest / (brightest + amount))


def frost(image: Image, strength: tuple[float, float], rng: np.random.Generator) -> Image:
    """Ice on the lens.

    The published sets overlay photographs of frost; here the ice is made: ridges of plasma, which look like its veins.
    """
    scene, ice = strength
    height, width, channels = image.shape
    veins = 1 - np.abs(2 * plasma(height, width, 1.7, rng) - 1)
    clouds = plasma(height, width, 2.2, rng)
    texture = np.clip(0.75 * veins**3 + 0.45 * clouds, 0, 1)
    return scene * image + ice * texture[..., None] * tint(ICE, channels)


def snow(image: Image, strength: tuple[float, ...], rng: np.random.Generator) -> Image:
    """Falling flakes before a paler scene."""
    mean, spread, zoom, least, radius, sigma, scene = strength
    height, width, _ = image.shape
    flakes = rng.normal(mean, spread, size=(height, width, 1)).astype(np.float32)
    flakes = magnify(flakes, zoom)
    flakes = np.clip(np.where(flakes < least, 0, flakes), 0, 1).astype(np.float32)
    flakes = streak(flakes, radius, sigma, rng.uniform(-135, -45))
    pale = scene * image + (1 - scene) * np.maximum(image, 1.5 * grey(image) + 0.5)
    return pale + flakes + flakes[::-1, ::-1]


def spatter(image: Image, strength: tuple[float, ...], rng: np.random.Generator) -> Image:
    """Drops of water or mud on the lens."""
    mean, spread, sigma, least, amount, is_mud = strength
    height, width, channels = image.shape
    liquid = smooth(rng.normal(mean, spread, size=(height, width)).astype(np.float32), sigma)
    liquid = np.where(liquid < least, 0, liquid).astype(np.float32)
    if is_mud:
        cover = smooth((liquid > least).astype(np.float32), amount)[..., None]
        cover = np.where(cover < 0.8, 0, cover).astype(np.float32)
        return image * (1 - cover) + cover * tint(MUD, channels)
    drops = _drops((np.clip(liquid, 0, 1) * 255).astype(np.uint8))
    largest = float(drops.max())
    return image + (amount / largest if largest else 0.0) * drops[..., None] * tint(WATER, channels)


def _drops(liquid: NDArray[np.uint8]) -> Image:
    """Water lit from one side: the distance to the drops' edges, embossed."""
    edges = cv2.Canny(liquid, 50, 150)
    distance = np.minimum(cv2.distanceTransform(255 - edges, cv2.DIST_L2, 5), 20)
    relief = cv2.equalizeHist(cv2.blur(distance, (3, 3)).astype(np.uint8))
    lit = cv2.filter2D(relief, cv2.CV_8U, np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]], dtype=np.float32))
    return liquid * cv2.blur(lit, (3, 3)).astype(np.float32)
