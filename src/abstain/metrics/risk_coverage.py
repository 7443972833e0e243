"""The risk–coverage curve."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.extras import require
from abstain.metrics.groups import Groups, group


@dataclass(frozen=True)
class RiskCoverage:
    """Selective risk at every coverage a threshold can reach; tied samples are accepted together."""

    coverage: NDArray[np.float64]
    """Share of the samples with confidence above the threshold, ascending."""
    risk: NDArray[np.float64]
    """Mean loss of these samples."""
    threshold: NDArray[np.float64]
    """γ of the rule "accept iff confidence > γ" that gives the point."""

    def reaches(self, coverage: float, /) -> bool:
        """Whether some threshold gives exactly this coverage (to within rounding)."""
        return bool(np.isclose(self.coverage, coverage, rtol=1e-9, atol=0).any())

    def plot(self, ax: Any = None, **line: Any) -> Any:
        """Draw the curve on Matplotlib axes, by default the current ones, and give them back."""
        pyplot = require("matplotlib.pyplot", extra="report", feature="RiskCoverage.plot")
        axes = pyplot.gca() if ax is None else ax
        axes.plot(self.coverage, self.risk, **line)
        axes.set(xlabel="Coverage", ylabel="Selective risk", xlim=(0, 1))
        axes.set_ylim(bottom=0)
        return axes


def risk_coverage(confidence: ArrayLike, losses: ArrayLike, /, *, weights: ArrayLike | None = None) -> RiskCoverage:
    """Selective risk R = Σ wℓ / Σ w over the accepted, at every reachable coverage (El-Yaniv & Wiener, 2010).

    Samples of confidence −inf are never accepted, so the curve ends before full coverage where there are any.

    >>> curve = risk_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])
    >>> curve.coverage, curve.risk.round(3)
    (array([0.25, 0.75, 1.  ]), array([0.   , 0.333, 0.5  ]))
    """
    return curve(group(confidence, losses, weights=weights))


def curve(groups: Groups, /) -> RiskCoverage:
    """The risk–coverage curve of groups."""
    accepted = np.cumsum(groups.weights)
    reachable = slice(-1) if groups.confidence[-1] == -np.inf else slice(None)
    with np.errstate(over="ignore"):  # below the least number is −∞
        threshold = np.nextafter(groups.confidence, -np.inf)
    return RiskCoverage(
        coverage=(accepted / accepted[-1])[reachable],
        risk=(np.cumsum(groups.losses) / accepted)[reachable],
        threshold=threshold[reachable],
    )


def evenly(size: int, most: int, /) -> NDArray[np.int64]:
    """The numbers 0 … size − 1, or ``most`` of them at even distances, the first and the last included.

    >>> evenly(9, 3)
    array([0, 4, 8])
    """
    return np.arange(size) if size <= most else np.linspace(0, size - 1, most).astype(np.int64)
