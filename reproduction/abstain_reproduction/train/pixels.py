"""Images as a network takes them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError
from abstain._extras import require

torch = require("torch", extra="torch", feature="Training")
MIDDLE, SPREAD = 0.5, 0.25


def check_images(images: Any, labels: NDArray[np.int64], classes: int, /) -> None:
    """Bytes (n, h, w) or (n, h, w, c), each with a label below the number of classes."""
    if getattr(images, "dtype", None) != np.uint8 or images.ndim not in (3, 4) or not len(images):
        description = f"{getattr(images, 'dtype', type(images).__name__)} of {getattr(images, 'shape', '?')}"
        raise InvalidInputError(f"`images` must be bytes of shape (n, h, w) or (n, h, w, c), got {description}.")
    if labels.shape != (len(images),):
        raise InvalidInputError(f"`labels` must have one for each of {len(images)} images, got shape {labels.shape}.")
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= classes:
        raise InvalidInputError(f"`labels` must be from 0 to {classes - 1}, got {labels.min()} to {labels.max()}.")


def pixels(images: NDArray[np.uint8], /) -> Any:
    """A tensor (b, c, h, w) with a mean near zero and a spread near one, each channel by itself in memory.

    With the channels of a pixel side by side, the convolutions of PyTorch 2.13 write beyond their memory on processors
    without AVX-512 where channels are few.
    """
    batch = images[..., None] if images.ndim == 3 else images
    scaled = (torch.from_numpy(np.array(batch)).float() / 255 - MIDDLE) / SPREAD
    return scaled.permute(0, 3, 1, 2).contiguous()
