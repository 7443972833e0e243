"""A corruption as a transform of `collect`: from one Pillow image to another, seeded by its row."""

from typing import Any

import numpy as np

from abstain.extras import require


def corrupt_picture(name: str, severity: int, seed: int, image: Any, row: int, /) -> Any:
    """A picture under a corruption; arrays of bytes are taken too. The same row has the same noise in every run."""
    from abstain.shifts import corrupt

    pixels = corrupt(np.asarray(image), name, severity=severity, seed=seed + row)
    return require("PIL.Image", extra="images", feature="Corrupting images").fromarray(pixels)
