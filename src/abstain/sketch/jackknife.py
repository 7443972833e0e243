"""How sure a value is, from parts of the rows: what it becomes when each part is left out in turn.

The parts are made by a hash of the ids, so that rows that show the same sample are in the same part, for every score
alike: a standard error counts clusters whole, and that of a difference is paired. It has P − 1 degrees of freedom.
"""

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from abstain.metrics.groups import prefix
from abstain.sketch.areas import risk_sum

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def left_out(counts: Ints, errors: Ints, parts: tuple[Ints, Ints, Ints, Ints], alpha: float, /) -> Floats:
    """(P,) AURC-α of the rows without those of each part that has rows, from groups with the most trusted first."""
    number, place, part_counts, part_errors = parts
    found = []
    for part in np.unique(number):
        chosen = number == part
        rest, wrong = counts.copy(), errors.astype(np.float64)
        rest[place[chosen]] -= part_counts[chosen]
        wrong[place[chosen]] -= part_errors[chosen]
        kept, n = rest > 0, int(rest.sum())
        m = prefix(n, alpha)
        found.append(risk_sum(rest[kept], wrong[kept], m) / m if n else np.nan)
    return np.array(found)


def jackknife_error(values: Floats, /) -> float:
    """Standard error from the values without each part, (P,)."""
    if len(values) < 2 or np.isnan(values).any():
        raise ValueError(f"A standard error must have rows in at least 2 parts, got {len(values)}. Count more rows.")
    return sqrt((len(values) - 1) * float(np.mean(np.square(values - values.mean()))))


def jackknife_thirds(values: Floats, /) -> tuple[float, float]:
    """Cubes of the same for an uneven interval: of parts that take off, and of those that add."""
    parts = len(values)
    cubes = np.power((parts - 1) / parts * (values.mean() - values), 3)
    return -float(np.minimum(cubes, 0.0).sum()), float(np.maximum(cubes, 0.0).sum())


def student(level: float, parts: int, /) -> float:
    """How many standard errors a two-sided interval reaches."""
    from scipy.special import stdtrit

    return float(stdtrit(parts - 1, (1 + level) / 2))
