"""Covariate shift of severity 3 in the 19 corruptions: from the published folders, or made on the fly."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from abstain.collect import Data
from abstain.extras import require

SEVERITY = 3
PUBLISHED = {"elastic": "elastic_transform", "jpeg": "jpeg_compression"}
"""What the published folders call a corruption, where it is another name."""


def published_name(corruption: str, /) -> str:
    """What ImageNet-C and CIFAR-10-C call it."""
    return PUBLISHED.get(corruption, corruption)


def made(data: Data, seed: int, /, *, cut: Callable[[Any], Any] = np.asarray) -> list[Data]:
    """Each corruption of the same samples; images are ``cut`` to size first."""
    from abstain.shifts import CORRUPTIONS

    return [data.shifted(partial(_corrupted, name, seed, cut), domain=f"{name}-{SEVERITY}") for name in CORRUPTIONS]


def _corrupted(name: str, seed: int, cut: Callable[[Any], Any], image: Any, row: int) -> Any:
    from abstain.shifts import corrupt

    pixels = corrupt(np.asarray(cut(image)), name, severity=SEVERITY, seed=seed + row)
    return require("PIL.Image", extra="images", feature="Corrupting images").fromarray(pixels)
