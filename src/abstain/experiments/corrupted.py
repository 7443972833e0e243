"""Covariate shift by the 19 corruptions at severity 3: made on the fly, and what published folders call them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from abstain.collect import Data
from abstain.shifts.pictures import corrupt_picture

SEVERITY = 3
PUBLISHED = {"elastic": "elastic_transform", "jpeg": "jpeg_compression"}
"""What the published folders call a corruption, where it is another name."""
Cut = Callable[[Any], Any]


def published_name(corruption: str, /) -> str:
    """What ImageNet-C and CIFAR-10-C call it."""
    return PUBLISHED.get(corruption, corruption)


def corrupted(data: Data, seed: int, /, *, cut: Cut = np.asarray) -> list[Data]:
    """Each corruption of the same samples; images are ``cut`` to size first."""
    from abstain.shifts import CORRUPTIONS

    return [corrupted_by(name, data, seed, cut=cut) for name in CORRUPTIONS]


def corrupted_by(name: str, data: Data, seed: int, /, *, cut: Cut = np.asarray) -> Data:
    """One corruption of the samples."""
    return data.shifted(partial(_cut_first, name, seed, cut), domain=f"{name}-{SEVERITY}")


def _cut_first(name: str, seed: int, cut: Cut, image: Any, row: int) -> Any:
    return corrupt_picture(name, SEVERITY, seed, cut(image), row)
