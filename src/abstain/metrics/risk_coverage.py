"""The risk–coverage curve."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.metrics.ranking import rank


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


def risk_coverage(confidence: ArrayLike, losses: ArrayLike, /, *, weights: ArrayLike | None = None) -> RiskCoverage:
    """Selective risk R = Σ wℓ / Σ w over the accepted, at every reachable coverage (El-Yaniv & Wiener, 2010).

    Samples of confidence −inf are never accepted, so the curve ends before full coverage where there are any.

    >>> curve = risk_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])
    >>> curve.coverage, curve.risk.round(3)
    (array([0.25, 0.75, 1.  ]), array([0.   , 0.333, 0.5  ]))
    """
    ranking = rank(confidence, losses, weights=weights)
    accepted = np.cumsum(ranking.weights)
    reachable = ranking.confidence > -np.inf
    return RiskCoverage(
        coverage=(accepted / accepted[-1])[reachable],
        risk=(np.cumsum(ranking.losses) / accepted)[reachable],
        threshold=np.nextafter(ranking.confidence, -np.inf)[reachable],
    )
