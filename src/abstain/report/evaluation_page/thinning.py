"""A curve with few points that looks like one with a million."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
COLUMNS = 500  # of a picture, about
TOLERANCE = 0.001  # of its height, less than a dot of the screen


def thinned(x: Floats, y: Floats, /) -> Ints:
    """The numbers of points that are enough to draw y over ascending x: no line between them is visibly off.

    First the lowest and the highest of many neighbours, then those of them that a straight line would miss.
    """
    kept = _extremes(y) if len(y) > 4 * COLUMNS else np.arange(len(y))
    height = float(np.ptp(y)) if len(y) else 0.0
    return kept[_corners(x[kept], y[kept], TOLERANCE * height)]


def _extremes(y: Floats) -> Ints:
    each = -(-len(y) // COLUMNS)
    padded = np.concatenate([y, np.full(-len(y) % each, y[-1])]).reshape(-1, each)
    starts = each * np.arange(len(padded))
    found = [[0, len(y) - 1], starts + padded.argmin(axis=1), starts + padded.argmax(axis=1)]
    return np.unique(np.minimum(np.concatenate(found), len(y) - 1))


def _corners(x: Floats, y: Floats, tolerance: float) -> Ints:
    """Ramer and Douglas and Peucker's: split where a line is furthest off, until none is off by more."""
    kept = {0, len(x) - 1} if len(x) else set()
    parts = [(0, len(x) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        inside = slice(first + 1, last)
        off = np.abs(y[inside] - np.interp(x[inside], x[[first, last]], y[[first, last]]))
        worst = int(np.argmax(off))
        if off[worst] > tolerance:
            middle = first + 1 + worst
            kept.add(middle)
            parts += [(first, middle), (middle, last)]
    return np.array(sorted(kept), dtype=np.int64)
