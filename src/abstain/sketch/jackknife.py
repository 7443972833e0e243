"""Standard errors by the jackknife: parts of the rows are left out in turn.

Parts are made by a hash of the ids, so that rows of the same sample are in the same part for every score: standard
errors count clusters, and those of differences are paired. They have P − 1 degrees of freedom.
"""

from math import sqrt

import numpy as np

from abstain._arrays import Floats, Ints
from abstain._errors import InvalidInputError
from abstain.metrics.groups import prefix
from abstain.sketch.areas import risk_sum


def left_out(counts: Ints, errors: Ints, parts: tuple[Ints, Ints, Ints, Ints], alpha: float, /) -> Floats:
    """(P,) AURC-α of the rows without those of each part that has rows, from groups with the most trusted first."""
    number, index, part_counts, part_errors = parts
    areas = []
    for part in np.unique(number):
        chosen = number == part
        rest, wrong = counts.copy(), errors.astype(np.float64)
        rest[index[chosen]] -= part_counts[chosen]
        wrong[index[chosen]] -= part_errors[chosen]
        kept, n = rest > 0, int(rest.sum())
        m = prefix(n, alpha)
        areas.append(risk_sum(rest[kept], wrong[kept], m) / m if n else np.nan)
    return np.array(areas)


def jackknife_error(values: Floats, /) -> float:
    """Standard error from the values without each part, (P,)."""
    if len(values) < 2 or np.isnan(values).any():
        raise InvalidInputError(f"A standard error needs rows in at least 2 parts, got {len(values)}. Count more rows.")
    return sqrt((len(values) - 1) * float(np.mean(np.square(values - values.mean()))))


def jackknife_thirds(values: Floats, /) -> tuple[float, float]:
    """Cubes of the same for an uneven interval: of parts that take off, and of those that add."""
    parts = len(values)
    cubes = np.power((parts - 1) / parts * (values.mean() - values), 3)
    return -float(np.minimum(cubes, 0.0).sum()), float(np.maximum(cubes, 0.0).sum())


def student(level: float, parts: int, /) -> float:
    """Student's quantile of a two-sided interval."""
    from scipy.special import stdtrit

    return float(stdtrit(parts - 1, (1 + level) / 2))
