"""What a metric gives, and means over rows with their standard errors."""

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.sums import exact_sum
from abstain.metrics.clusters import Clusters, error_of_sums, standard_error
from abstain.metrics.influence import Influence
from abstain.metrics.spread import Spread, area_spread, effective_number, heaviest

Floats = NDArray[np.float64]


class Value(NamedTuple):
    """The value of a metric and, where they are known, its standard error and what more there is of its spread."""

    value: float
    se: float | None = None
    spread: Spread | None = None

    def interval(self, *, level: float) -> tuple[float, float] | None:
        """The interval within 0 and 1, normal where no more is known than the standard error; None without one."""
        if self.se is None:
            return None
        spread = self.spread or Spread(self.se**2, (0.0, 0.0), (0.0, 0.0), inf)
        low, high = spread.interval(self.value, level=level)
        return max(0.0, low), min(1.0, high)


def area_value(value: float, influence: Influence, /, *, se: float | None = None, beyond: float = 0.0) -> Value:
    """An area with its standard error, and the spread that its influence tells: the heaviest rows may hide an error."""
    n, sums, shares = len(influence.rows), influence.sums, influence.shares
    se = error_of_sums(exact_sum(np.square(sums)), len(sums), n) if se is None else se
    third, size = exact_sum(sums**3) / n**3, effective_number(shares)
    return Value(value, se, area_spread(value, se, third, heaviest(shares), size, beyond=beyond))


def mean_value(values: Floats, weights: Floats | None, clusters: Clusters | None, /) -> Value:
    """The (weighted) mean of the rows' values, (n,), with its standard error."""
    w = np.ones(len(values)) if weights is None else weights
    total = exact_sum(w)
    found = exact_sum(w * values) / total
    return Value(found, standard_error(w * (values - found) * (len(values) / total), clusters))
