"""Covariate shift by the 19 corruptions at severity 3, and the names of their published folders."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from abstain.collect import Data
from abstain.shifts import corrupt_picture

SEVERITY = 3
PUBLISHED = {"elastic": "elastic_transform", "jpeg": "jpeg_compression"}
"""Names of corruptions in published folders, where they differ."""
Cut = Callable[[Any], Any]


def published_name(corruption: str, /) -> str:
    """The name of a corruption in ImageNet-C and CIFAR-10-C."""
    return PUBLISHED.get(corruption, corruption)


def corrupted(data: Data, seed: int, /, *, cut: Cut = np.asarray) -> list[Data]:
    """Every corruption of the same samples; ``cut`` resizes the images first."""
    from abstain.shifts import CORRUPTIONS

    return [corrupted_by(name, data, seed, cut=cut) for name in CORRUPTIONS]


def corrupted_by(name: str, data: Data, seed: int, /, *, cut: Cut = np.asarray) -> Data:
    """One corruption of the samples."""
    return data.shifted(partial(_cut_first, name, seed, cut), domain=f"{name}-{SEVERITY}")


def _cut_first(name: str, seed: int, cut: Cut, image: Any, row: int) -> Any:
    return corrupt_picture(name, SEVERITY, seed, cut(image), row)
