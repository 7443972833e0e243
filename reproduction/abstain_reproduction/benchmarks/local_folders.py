"""Data sets in the folders their authors publish: where they are looked for, and what is said if they are not there."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from abstain._errors import MissingFileError
from abstain.collect import Data
from abstain_reproduction.draws import generator


def first_existing(root: Path, names: Sequence[str], /) -> Path | None:
    """The first of some files and folders that there is."""
    return next((root / name for name in names if (root / name).exists()), None)


def needed(root: Path, names: Sequence[str], /, *, what: str) -> Path:
    """The first of some files and folders that exists, or an error with what is expected."""
    path = first_existing(root, names)
    if path is None:
        there = sorted(child.name for child in root.iterdir())[:5]
        raise MissingFileError(
            f"`--data` must hold {what} in {' or '.join(names)}, got {', '.join(there) or 'nothing'} in {root}."
        )
    return path


def limited(data: Data, limit: int | None, seed: int, /) -> Data:
    """At most ``limit`` of the samples, drawn by the seed, in their order."""
    if limit is None or limit >= len(data):
        return data
    return data.select(np.sort(generator("samples within the limit", seed).permutation(len(data))[:limit]))
