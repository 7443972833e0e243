"""Covariate shift, made: corruptions of images, bytes and text."""

from typing import Any

from abstain.shifts.text import BYTE_SHIFTS, byte_noise, fold_case, reencode, truncate, typos

__all__ = ["BYTE_SHIFTS", "CORRUPTIONS", "byte_noise", "corrupt", "fold_case", "reencode", "truncate", "typos"]


def __getattr__(name: str) -> Any:
    """Image corruptions need OpenCV, so they are imported when asked for."""
    if name not in ("CORRUPTIONS", "corrupt"):
        raise AttributeError(f"module 'abstain.shifts' has no attribute {name!r}")
    from abstain.extras import require

    require("cv2", extra="images", feature="Corrupting images")
    from abstain.shifts import corruptions

    return getattr(corruptions, name)
