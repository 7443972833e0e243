"""Synthetic covariate shift: corruptions of images."""

from typing import Any

import numpy as np

from abstain._extras import require

__all__ = ["CORRUPTIONS", "corrupt"]


def __getattr__(name: str) -> Any:
    """Image corruptions need OpenCV, so they are imported when asked for."""
    if name not in __all__:
        raise AttributeError(f"module 'abstain.shifts' has no attribute {name!r}")
    require("cv2", extra="images", feature="Corrupting images")
    from abstain.shifts import corruptions

    return getattr(corruptions, name)


def corrupt_picture(name: str, severity: int, seed: int, image: Any, row: int, /) -> Any:
    """Corrupt a Pillow image or an array of bytes and return a Pillow image; `collect` uses it as a transform.

    The noise is seeded by the row, so that the same row has the same noise in every run.
    """
    from abstain.shifts import corrupt

    pixels = corrupt(np.asarray(image), name, severity=severity, seed=seed + row)
    return require("PIL.Image", extra="images", feature="Corrupting images").fromarray(pixels)
