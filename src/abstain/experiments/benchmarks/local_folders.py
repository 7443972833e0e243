"""Data sets in the folders their authors publish: where they are looked for, and what is said if they are not there."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from abstain.collect import Data
from abstain.draws import generator


def found(root: Path, names: Sequence[str], /) -> Path | None:
    """The first of some files and folders that there is."""
    return next((root / name for name in names if (root / name).exists()), None)


def needed(root: Path, names: Sequence[str], /, *, what: str) -> Path:
    """The first of some files and folders that there is, or an error that says what is expected where."""
    place = found(root, names)
    if place is None:
        there = sorted(child.name for child in root.iterdir())[:5]
        raise FileNotFoundError(
            f"`--data` must hold {what} in {' or '.join(names)}, got {', '.join(there) or 'nothing'} in {root}."
        )
    return place


def limited(data: Data, limit: int | None, seed: int, /) -> Data:
    """At most ``limit`` of the samples, drawn by the seed, in their order."""
    if limit is None or limit >= len(data):
        return data
    return data.select(np.sort(generator("samples within the limit", seed).permutation(len(data))[:limit]))
