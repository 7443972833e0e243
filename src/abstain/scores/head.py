"""The last layer as scores on arrays of any library need it, worked out once."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from abstain.scores.norms import row_norms
from abstain.scores.pairwise_margin import inverse_distances


class Head:
    """The weight (K, d) of the last layer and what is made of it."""

    def __init__(self, weight: NDArray[np.floating]) -> None:
        self.weight = weight

    @cached_property
    def inverse_norms(self) -> NDArray[np.float64]:
        """1/‖w_i‖ (K,)."""
        return np.asarray(1 / row_norms(self.weight))

    @cached_property
    def inverse_distances(self) -> NDArray[np.float64]:
        """1/‖w_i − w_j‖ (K, K), 0 where the rows are the same."""
        return inverse_distances(self.weight)
