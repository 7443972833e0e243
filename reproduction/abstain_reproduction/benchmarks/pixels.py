"""Images as a network takes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain_reproduction.square import Resampling, square

Triple = tuple[float, float, float]


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


IMAGENET = Pixels(256, 224, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
CLIP = Pixels(224, 224, (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711), "BICUBIC")
CIFAR = Pixels(None, None, (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616))
