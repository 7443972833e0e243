"""The 19 corruptions of ImageNet-C and CIFAR-10-C by name."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._names import check_name
from abstain.shifts.camera import (
    defocus_blur,
    gaussian_blur,
    gaussian_noise,
    glass_blur,
    impulse_noise,
    motion_blur,
    shot_noise,
    speckle_noise,
    zoom_blur,
)
from abstain.shifts.digital import brightness, contrast, elastic, jpeg, pixelate, saturate
from abstain.shifts.severities import LARGE, SMALL
from abstain.shifts.weather import fog, frost, snow, spatter

CORRUPTIONS: Mapping[str, Callable[[Any, Any, np.random.Generator], Any]] = {
    "gaussian_noise": gaussian_noise,
    "shot_noise": shot_noise,
    "impulse_noise": impulse_noise,
    "speckle_noise": speckle_noise,
    "defocus_blur": defocus_blur,
    "glass_blur": glass_blur,
    "motion_blur": motion_blur,
    "zoom_blur": zoom_blur,
    "gaussian_blur": gaussian_blur,
    "snow": snow,
    "frost": frost,
    "fog": fog,
    "brightness": brightness,
    "contrast": contrast,
    "elastic": elastic,
    "pixelate": pixelate,
    "jpeg": jpeg,
    "spatter": spatter,
    "saturate": saturate,
}
"""The 19 corruptions of ImageNet-C and CIFAR-10-C by name, for `corrupt`."""


def corrupt(image: NDArray[np.uint8], name: str, /, *, severity: int = 3, seed: int = 0) -> NDArray[np.uint8]:
    """One image (h, w), (h, w, 1) or (h, w, 3) of bytes, corrupted; the same seed gives the same bytes.

    Images of up to 96 pixels a side get the strengths of CIFAR-10-C, larger ones those of ImageNet-C.
    (Hendrycks & Dietterich, 2019)

    Parameters
    ----------
    image : (h, w), (h, w, 1) or (h, w, 3) array of uint8
        The image.
    name : str
        A name of `CORRUPTIONS`.
    severity : int
        From 1 to 5.
    seed : int
        Of the noise.

    Returns
    -------
    array of uint8
        Of the same shape.

    Examples
    --------
    >>> corrupt(np.full((32, 32), 100, dtype=np.uint8), "contrast", severity=5).mean()
    np.float64(100.0)
    """
    check_name("name", name, CORRUPTIONS)
    if severity not in range(1, 6):
        raise InvalidInputError(f"`severity` must be 1, 2, 3, 4 or 5, got {severity}.")
    pixels = np.asarray(image)
    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3)):
        raise InvalidTypeError(
            f"`image` must be uint8 of shape (h, w), (h, w, 1) or (h, w, 3), got {pixels.dtype} of {pixels.shape}."
        )
    table = SMALL if max(pixels.shape[:2]) <= 96 else LARGE
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    scene = pixels.reshape(*pixels.shape[:2], channels).astype(np.float32) / np.float32(255)
    rng = np.random.default_rng([seed, severity, zlib.crc32(name.encode())])
    corrupted = CORRUPTIONS[name](scene, table[name][severity - 1], rng)
    return np.rint(np.clip(corrupted, 0, 1) * 255).astype(np.uint8).reshape(pixels.shape)
