"""Images as a network takes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from abstain.extras import require

Triple = tuple[float, float, float]
Resampling = Literal["BILINEAR", "BICUBIC"]


@dataclass(frozen=True)
class Pixels:
    """Resize the shorter side, crop the middle, scale to 0…1, normalize, channels first; None leaves the size."""

    resize: int | None
    crop: int | None
    mean: Triple
    std: Triple
    resampling: Resampling = "BILINEAR"

    def __call__(self, images: Sequence[Any], /) -> NDArray[np.float32]:
        """(n, 3, h, w) from Pillow images or arrays of bytes."""
        batch = np.stack([np.asarray(self._cut(image), dtype=np.float32) for image in images]) / np.float32(255)
        mean, std = (np.asarray(values, dtype=np.float32) for values in (self.mean, self.std))
        return np.ascontiguousarray(((batch - mean) / std).transpose(0, 3, 1, 2))

    def sized(self, side: int, /) -> Self:
        """The same for a network that takes images of another side."""
        if self.resize is None or self.crop is None:
            return replace(self, resize=side, crop=side)
        return replace(self, resize=round(side * self.resize / self.crop), crop=side)

    def _cut(self, image: Any) -> Any:
        if self.resize is None or self.crop is None:
            return image
        return square(image, resize=self.resize, crop=self.crop, resampling=self.resampling)


def square(image: Any, /, *, resize: int, crop: int, resampling: Resampling = "BILINEAR") -> Any:
    """The middle ``crop`` pixels of an image whose shorter side was made ``resize`` long, as a Pillow image."""
    module = require("PIL.Image", extra="images", feature="Resizing images")
    image = module.fromarray(image) if isinstance(image, np.ndarray) else image
    width, height = resized(*image.size, resize)
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


IMAGENET = Pixels(256, 224, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP = Pixels(224, 224, (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711), "BICUBIC")
CIFAR = Pixels(None, None, (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))
