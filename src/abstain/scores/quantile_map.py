"""A map of any confidence to its quantile in a sample, on the scale of a normal distribution."""

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from abstain._arrays import Floats
from abstain.metrics.spread import normal_quantile
from abstain.scores.operations import Array, array_namespace, at_least, at_most, constant
from abstain.scores.rows import CERTAIN
from abstain.scores.score import Stored

KNOTS = 17
NARROWEST = 1e-200  # gap between knots, so that no share of it overflows


@final
@dataclass(frozen=True, eq=False)
class QuantileMap(Stored):
    """Straight lines between quantiles of a sample; beyond them it goes on rising, by less than one standard deviation.

    Strictly increasing where the sample had more than one value, so that it changes no order among those.
    """

    knots: Floats
    """(k,) ascending confidences."""
    quantiles: Floats
    """(k,) the normal quantile of each."""

    @classmethod
    def of(cls, confidence: Floats, /) -> Self:
        """That of a sample (n,), in which missing values, which are NaN, do not count."""
        ordered = np.sort(np.clip(confidence[~np.isnan(confidence)], -CERTAIN, CERTAIN))
        knots = np.unique(np.quantile(ordered, np.linspace(0, 1, KNOTS), method="inverted_cdf"))
        knots = knots[np.diff(knots, prepend=-np.inf) > NARROWEST]
        below, up_to = (np.searchsorted(ordered, knots, side) for side in ("left", "right"))
        shares = (below + up_to) / (2 * len(ordered))
        return cls(knots, np.array([normal_quantile(share) for share in shares.tolist()]))

    def __call__(self, confidence: Array, /) -> Array:
        """The normal quantile (n,) of each confidence; NaN stays NaN."""
        xp = array_namespace(confidence)
        x = at_most(at_least(confidence, -CERTAIN), CERTAIN)
        low, high = float(self.knots[0]), float(self.knots[-1])
        if len(self.knots) == 1:
            return _beyond(x - low) - _beyond(low - x) + float(self.quantiles[0])
        widths, rises = np.diff(self.knots), np.diff(self.quantiles)
        share = (x[:, None] - constant(self.knots[:-1], x)[None, :]) / constant(widths, x)[None, :]
        inside = xp.sum(at_most(at_least(share, 0.0), 1.0) * constant(rises, x)[None, :], axis=1)
        first, last = float(rises[0] / widths[0]), float(rises[-1] / widths[-1])
        return inside + float(self.quantiles[0]) + _beyond(last * (x - high)) - _beyond(first * (low - x))


def _beyond(excess: Array) -> Array:
    """0 up to 0, then rising towards 1."""
    above = at_least(excess, 0.0)
    return above / (1.0 + above)
