"""Which new rows test a guarantee, and how they depend on each other: decided by what was guaranteed."""

from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats, Ints
from abstain.thresholds.guarantee import Guarantee
from abstain.thresholds.sample import one_per_cluster

Mask = NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """The rows of a sample that a guarantee is about."""

    rows: Mask
    """(n,) where they are."""
    clusters: Ints | None
    """(n,) the number of each row's cluster; None where the rows are independent."""
    largest: int
    """How many rows of a cluster the guarantee is about at most."""
    left_out: int
    """Rows of larger clusters, about which it says nothing."""

    @classmethod
    def of(
        cls,
        guarantee: Guarantee | None,
        inside: Mask,
        ids: Ints | None,
        confidence: Floats,
        outcomes: NDArray[Any],
        /,
        *,
        seed: int = 0,
    ) -> Self:
        """The rows ``inside`` a group (n,) that test the guarantee, of clusters numbered by ``ids`` or None.

        - About clusters of at most M rows: the clusters with at most M rows here, which are independent draws of those.
          Whether a sample shows a cluster of several rows is chance, so that it must not choose the test.
        - About one row of each cluster: one row of each, drawn at random, and these are independent.
        - About independent rows: all of them. If they come in clusters nevertheless, then as many rows as the largest
          has are taken for the most that one can have.

        Rows without ids are clusters of their own.
        """
        counting, largest = ("rows", None) if guarantee is None else (guarantee.counting, guarantee.largest)
        if counting == "clusters":
            drawn = np.zeros(len(inside), dtype=bool)
            drawn[one_per_cluster(confidence, outcomes.astype(np.float64), ids=ids, seed=seed)] = True
            return cls(inside & drawn, None, 1, 0)
        number = np.arange(len(inside)) if ids is None else ids
        sizes = np.bincount(number[inside], minlength=int(number.max(initial=0)) + 1)[number]
        assumed = max(1, int(sizes[inside].max(initial=1))) if largest is None else largest
        rows = inside & (sizes <= assumed)
        left_out = int(np.count_nonzero(inside & ~rows))
        return cls(rows, number if assumed > 1 else None, assumed, left_out)
