"""Random crops and flips of a batch of images, drawn from a generator."""

from dataclasses import dataclass
from typing import Any, final

from abstain._errors import InvalidInputError
from abstain._extras import require

torch = require("torch", extra="torch", feature="Training")


@final
@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """Pad with zeros, cut a window at random, mirror half of the images."""

    pad: int = 0
    window: int | None = None
    """The side of what is cut out; that of the image unless given."""
    flip: bool = False

    def __call__(self, images: Any, generator: Any, /) -> Any:
        """Images (b, c, h, w), each changed on its own."""
        side = self.window or images.shape[-1]
        if self.pad or side != images.shape[-1]:
            images = _windows(torch.nn.functional.pad(images, (self.pad,) * 4), side, generator)
        if self.flip:
            mirrored = torch.rand(len(images), generator=generator) < 0.5
            images = torch.where(mirrored[:, None, None, None], images.flip(-1), images)
        return images


def _windows(images: Any, side: int, generator: Any) -> Any:
    """A window of each image, anywhere."""
    if (room := min(images.shape[-2:]) - side) < 0:
        raise InvalidInputError(f"`window` must fit into images of {tuple(images.shape[-2:])}, got {side}.")
    top, left = torch.randint(room + 1, (2, len(images)), generator=generator)
    steps = torch.arange(side)
    rows, columns = (top[:, None] + steps)[:, :, None], (left[:, None] + steps)[:, None, :]
    cut = images.permute(0, 2, 3, 1)[torch.arange(len(images))[:, None, None], rows, columns]
    return cut.permute(0, 3, 1, 2).contiguous()
