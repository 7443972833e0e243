"""What every monitor answers."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.monitor.row import Clusters


class Monitor(Protocol):
    """Evidence that something has changed, in a frozen value; an alarm stays until the evidence begins anew."""

    columns: ClassVar[tuple[str, ...]]
    """What it reads of a row; without the first it counts nothing."""
    meaning: ClassVar[str]
    """What an alarm says."""
    caveat: ClassVar[str]
    """What it does not say, or nothing."""

    @property
    def clustered(self) -> bool:
        """Whether rows of the same id are one cluster, of which `observe` takes the `outcome`."""
        ...

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached what makes a false alarm rare."""
        ...

    def outcomes(self, clusters: Clusters, /) -> NDArray[np.float64]:
        """(n,) what each cluster counts as, from what is taken of its rows; NaN if nothing."""
        ...

    def observe(self, values: ArrayLike, /) -> Self:
        """The monitor after further samples or clusters, in the order they came."""
        ...

    def begun(self) -> Self:
        """The monitor as it was before its first sample."""
        ...

    def restarted(self) -> Self:
        """The monitor with no evidence, to go on after an alarm: false then with probability at most δ once more."""
        ...

    def numbers(self) -> dict[str, Any]:
        """Its counts, evidence and alarm."""
        ...

    def words(self) -> str:
        """The same in a line or two."""
        ...


def first_alarm(monitor: Monitor, values: Sequence[float] | NDArray[np.float64], /) -> int:
    """The place of the first of these values after which there is an alarm; an alarm stays, so halving finds it."""
    return bisect_left(range(len(values)), True, key=lambda k: monitor.observe(values[: k + 1]).alarm)
