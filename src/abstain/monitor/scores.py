"""Does the law of the confidence change over time? Without labels."""

from dataclasses import dataclass, field
from math import exp, log
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

BETS = (-0.9, -0.5, 0.5, 0.9)
POWERS = (0.3, 0.7)


@final
@dataclass
class ScoreMonitor:
    """A conformal test martingale: an alarm when confidences stop being exchangeable with those before them.

    Each new confidence gets a conformal p-value among all so far, uniform while nothing changes; bets on its size (a
    mixture of Σ 1 + b(p − ½) and of p^{κ−1}) grow into evidence, which reaches 1/δ with probability at most δ over all
    time if nothing changes (Vovk et al., 2003). An alarm says that the scores changed, NOT that the risk did, and no
    alarm certifies nothing: a change of labels given inputs cannot be seen here. It keeps the confidences seen.
    """

    delta: float = 0.05
    seed: int = 0
    seen: list[float] = field(default_factory=list)
    logs: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(BETS) + len(POWERS)))
    highest: float = 0.0

    def update(self, confidence: ArrayLike, /) -> "ScoreMonitor":
        """Take in confidences in the order they came; returns itself."""
        values = np.asarray(confidence, dtype=np.float64)
        if np.isnan(values).any():
            raise ValueError("`confidence` must not be NaN, got some. Set it to -inf where a sample was rejected.")
        rng = np.random.default_rng([self.seed, len(self.seen)])
        for value, u in zip(np.atleast_1d(values), rng.random(values.size), strict=True):
            past = np.asarray(self.seen)
            below, same = np.count_nonzero(past < value), np.count_nonzero(past == value) + 1
            p = max((below + u * same) / (len(past) + 1), 1e-12)
            self.seen.append(float(value))
            self.logs += np.array(
                [log(1 + bet * 2 * (p - 0.5)) for bet in BETS] + [log(k) + (k - 1) * log(p) for k in POWERS]
            )
            self.highest = max(self.highest, self.evidence)
        return self

    @property
    def evidence(self) -> float:
        """The mean of the bets' capital."""
        top = float(self.logs.max())
        return exp(min(top + log(float(np.exp(self.logs - top).mean())), 700.0))

    @property
    def alarm(self) -> bool:
        """Whether the evidence has ever reached 1/δ."""
        return self.highest >= 1 / self.delta
