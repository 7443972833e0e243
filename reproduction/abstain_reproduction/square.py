"""The middle of an image at a given size, cut as torchvision cuts it."""

from typing import Any, Literal

import numpy as np

from abstain._extras import require

Resampling = Literal["BILINEAR", "BICUBIC"]


def square(image: Any, /, *, resize: int, crop: int, resampling: Resampling = "BILINEAR") -> Any:
    """The middle ``crop`` pixels of an image whose shorter side was made ``resize`` long, as a Pillow image."""
    module = require("PIL.Image", extra="images", feature="Resizing images")
    image = module.fromarray(image) if isinstance(image, np.ndarray) else image
    before: tuple[int, int] = image.size
    width, height = resized(*before, resize)
    image = image.resize((width, height), module.Resampling[resampling])
    left, top = middle(width, crop), middle(height, crop)
    return image.crop((left, top, left + crop, top + crop))


def resized(width: int, height: int, shorter: int, /) -> tuple[int, int]:
    """Width and height once the shorter side is ``shorter``; the longer is rounded down, as torchvision's Resize does.

    >>> resized(640, 427, 256)
    (383, 256)
    """
    if width <= height:
        return shorter, shorter * height // width
    return shorter * width // height, shorter


def middle(side: int, crop: int, /) -> int:
    """Where the middle of a side begins; half a pixel goes to the even number, as in torchvision's CenterCrop.

    >>> middle(383, 224), middle(385, 224)
    (80, 80)
    """
    return round((side - crop) / 2)
