"""What a metric gives, and means over rows with their standard errors."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.sums import exact_sum
from abstain.metrics.clusters import Clusters, standard_error

Floats = NDArray[np.float64]


class Value(NamedTuple):
    """The value of a metric and, where one is known, its standard error."""

    value: float
    se: float | None = None


def mean_value(values: Floats, weights: Floats | None, clusters: Clusters | None, /) -> Value:
    """The (weighted) mean of the rows' values, (n,), with its standard error."""
    w = np.ones(len(values)) if weights is None else weights
    total = exact_sum(w)
    found = exact_sum(w * values) / total
    return Value(found, standard_error(w * (values - found) * (len(values) / total), clusters))
