"""`Monitor`, the contract of every monitor, and the clusters of rows it takes."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray


@final
@dataclass(frozen=True, eq=False)
class ClusterValues:
    """Clusters of rows with the same id, and the values of their rows."""

    names: Sequence[str]
    rows: NDArray[np.int64]
    """(n,) how many rows each has."""
    values: NDArray[np.float64]
    """Of the rows that the monitor counts, in any order within a cluster, cluster after cluster."""
    ends: NDArray[np.int64]
    """(n,) where those of each cluster end."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(n,) rows that are counted."""
        return np.diff(self.ends, prepend=0)

    def sums(self) -> NDArray[np.float64]:
        """(n,) of the values."""
        cluster = np.repeat(np.arange(len(self.ends)), self.sizes)
        return np.bincount(cluster, self.values, minlength=len(self.ends)).astype(np.float64)


class Monitor(Protocol):
    """Evidence that something has changed, in a frozen value; an alarm stands until the evidence is reset."""

    columns: ClassVar[tuple[str, ...]]
    """What it reads of a row; without the first it counts nothing."""
    meaning: ClassVar[str]
    """What an alarm means."""
    caveat: ClassVar[str]
    """What it does not mean, or an empty string."""

    @property
    def clustered(self) -> bool:
        """Whether rows of the same id are one cluster, of which `observe` takes the `outcome`."""
        ...

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached what makes a false alarm rare."""
        ...

    def outcomes(self, clusters: ClusterValues, /) -> NDArray[np.float64]:
        """(n,) what each cluster counts as, from the values of its rows; NaN if it does not count."""
        ...

    def observe(self, values: ArrayLike, /) -> Self:
        """The monitor after more samples or clusters, in the order they came."""
        ...

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        ...

    def restarted(self) -> Self:
        """The monitor without evidence, to continue after an alarm: a false alarm has probability at most δ again."""
        ...

    def numbers(self) -> dict[str, Any]:
        """Its counts, evidence and alarm."""
        ...

    def words(self) -> str:
        """The same in a line or two."""
        ...


def first_alarm(monitor: Monitor, values: Sequence[float] | NDArray[np.float64], /) -> int:
    """The index of the first of these values after which there is an alarm, by bisection, since an alarm stands."""
    return bisect_left(range(len(values)), True, key=lambda k: monitor.observe(values[: k + 1]).alarm)
