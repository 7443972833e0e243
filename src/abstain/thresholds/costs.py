"""Costs: the rule of Chow for a cost of errors and a cost of rejecting."""

from dataclasses import dataclass
from math import inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.metrics import risk_coverage
from abstain.thresholds.calibration import calibration_of, check_target
from abstain.thresholds.threshold import Threshold

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChowDecision:
    """Decisions by expected cost; arrays of shape (n,)."""

    prediction: NDArray[np.int64]
    """The class of lowest expected cost."""
    advantage: Floats
    """Expected cost of rejecting less that of the prediction: accept iff above 0."""

    @property
    def accepted(self) -> NDArray[np.bool_]:
        """Where predicting is cheaper than rejecting."""
        return self.advantage > 0


def chow(probabilities: ArrayLike, /, *, rejection: float | ArrayLike, costs: ArrayLike | None = None) -> ChowDecision:
    """Predict the class of lowest expected cost, and reject where rejecting is cheaper still.

    ``costs[ŷ, y]`` is the cost of predicting ŷ where y is true, 0 and 1 by default; ``rejection`` is the cost of
    rejecting, one number or one for each true class. It is optimal for true probabilities, so calibrate them first;
    nothing is guaranteed for others. (Chow, 1970)

    >>> C = [[0, 1, 10], [1, 0, 10], [2, 2, 0]]
    >>> [bool(chow([[0.6, 0.3, 0.1]], rejection=d, costs=C).accepted[0]) for d in (0.8, 1.5)]
    [False, True]
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or not (p >= 0).all() or not np.allclose(p.sum(axis=1), 1, atol=1e-6):
        raise ValueError(f"`probabilities` must have shape (n, K) and rows that sum to 1, got shape {p.shape}.")
    k = p.shape[1]
    table = 1 - np.eye(k) if costs is None else np.asarray(costs, dtype=np.float64)
    if table.shape != (k, k):
        raise ValueError(f"`costs` must have shape ({k}, {k}), got {table.shape}.")
    expected = p @ table.T
    prediction = expected.argmin(axis=1)
    reject = p @ np.broadcast_to(np.asarray(rejection, dtype=np.float64), (k,))
    return ChowDecision(prediction, reject - expected[np.arange(len(p)), prediction])


def minimal_cost(
    confidence: ArrayLike, losses: ArrayLike, /, *, rejection: float, delta: float = 0.05, ids: ArrayLike | None = None
) -> Threshold:
    """The threshold of lowest mean cost on the calibration sample, a loss if accepted and ``rejection`` if not.

    Its expected cost is, with probability 1 − δ, at most the bound: the cost seen plus (1 + rejection)·√(ln(4/δ)/2n)
    (Dvoretzky–Kiefer–Wolfowitz, for the accepted errors and for the share rejected, holds at all thresholds at once).
    Errors of 0 and 1 only.
    """
    check_target("rejection", rejection)
    check_target("delta", delta)
    sample = calibration_of(confidence, losses, ids=ids)
    if not sample.are_errors:
        raise ValueError("`losses` must be 0 or 1 for minimal_cost, got others.")
    n = len(sample)
    curve = risk_coverage(sample.confidence, sample.losses)
    cost = curve.coverage * curve.risk + rejection * (1 - curve.coverage)
    best = int(cost.argmin()) if cost.size and cost.min() < rejection else -1
    value, lowest = (inf, rejection) if best < 0 else (float(curve.threshold[best]), float(cost[best]))
    accepted, errors = sample.counts(value)
    bound = lowest + (1 + rejection) * sqrt(log(4 / delta) / (2 * n))
    guarantee = (
        f"the expected cost per sample is at most {bound:.4g}, with probability {1 - delta:.4g} over the calibration "
        f"sample of {n}; {lowest:.4g} was seen on it."
    )
    return Threshold(value, "minimal_cost", rejection, delta, n, accepted, errors, bound, guarantee)
