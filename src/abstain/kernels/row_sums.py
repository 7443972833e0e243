"""What formulas of the logits are made of: sums and gaps of each row, from what one read of it gathers."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.cached_property import cached_property
from abstain.kernels.rows import (
    EVERYTHING,
    EXTREMES,
    PREDICTION,
    PRODUCTS,
    RIVAL,
    SECOND,
    SQUARES,
    SUM,
    TOP,
    LogitRows,
    gathered,
)

Floats = NDArray[np.float64]
NORMAL = 2.0**-46  # from 0: what the log of a sum of probabilities may be off by rounding
TOLD_BY_TOP = 2.0**-12  # of the odds against the top class: below, the others tell 1 − p₁ in more digits


@final
class RowSums:
    """Of each row z with largest logit z₁ at i*, and dⱼ = zⱼ − z₁ for j ≠ i*: arrays of shape (n,).

    They are gathered when first asked for: without exponentials as long as nothing needs them, all in one read of the
    logits once something does. A row with a NaN, a +inf or nothing above −inf is NaN throughout.
    """

    def __init__(self, logits: LogitRows, scale: Floats | None, temperature: float) -> None:
        self._logits, self._temperature = logits, temperature
        self._scale = np.empty(0) if scale is None else np.ascontiguousarray(scale, dtype=np.float64)

    @cached_property
    def _everything(self) -> Floats:
        found = gathered(self._logits, self._scale, 1 / self._temperature, EVERYTHING)
        if (alone := found[SECOND] == -np.inf).any():  # one class left standing
            found[SUM:, alone] = [[1.0], [0.0], [np.inf]]
        return found

    @cached_property
    def _extremes(self) -> Floats:
        if "_everything" in self.__dict__:
            return self._everything
        return gathered(self._logits, self._scale, 1.0, EXTREMES)

    def _over_temperature(self, values: Floats) -> Floats:
        return values if self._temperature == 1 else np.asarray(values / self._temperature)

    @cached_property
    def top(self) -> Floats:
        """z₁."""
        return self._over_temperature(self._extremes[TOP])

    @cached_property
    def second(self) -> Floats:
        """The largest of the others."""
        return self._over_temperature(self._extremes[SECOND])

    @cached_property
    def prediction(self) -> NDArray[np.int64]:
        """i*, the first index of the largest logit, or −1 where a row is not usable."""
        return self._extremes[PREDICTION].astype(np.int64)

    @cached_property
    def margin(self) -> Floats:
        """z₁ less the largest of the others."""
        return self._over_temperature(self._extremes[TOP] - self._extremes[SECOND])

    @cached_property
    def scaled_margin(self) -> Floats:
        """z_{i*} s_{i*} − max zⱼ sⱼ for the column scales s; NaN without scales."""
        if not self._scale.size:
            return np.full(self._logits.shape[0], np.nan)
        found = self._extremes
        return np.asarray(found[TOP] * self._scale[self.prediction] - found[RIVAL])

    @cached_property
    def _second_odds(self) -> Floats:
        return np.exp(-self.margin)

    @cached_property
    def tail(self) -> Floats:
        """L = log Σ exp dⱼ.

        Of logs of probabilities it is that of 1/p₁ − 1, as long as p₁ says it no worse than the sum of the others does:
        equal p₁, as forests give by the dozen, are equal here, whatever the rounding of the others.
        """
        found = np.asarray(np.log(self._everything[SUM]) - self.margin)
        is_log = (np.abs(self.top + self.log_total) < NORMAL) & (self.odds > TOLD_BY_TOP)
        if is_log.any():
            found[is_log] = np.log(np.expm1(-self.top[is_log]))
        return found

    @cached_property
    def odds(self) -> Floats:
        """A = e^L."""
        return np.asarray(self._second_odds * self._everything[SUM])

    @cached_property
    def ratio(self) -> Floats:
        """Σ exp 2dⱼ / Σ exp dⱼ, between 0 and 1."""
        return np.asarray(self._second_odds * (self._everything[SQUARES] / self._everything[SUM]))

    @cached_property
    def gap(self) -> Floats:
        """The mean of −dⱼ under weights exp(dⱼ − L); 0 where no other class is above −inf."""
        behind = self._everything[PRODUCTS] / self._everything[SUM]
        gap = np.asarray(self.margin - behind)
        if (alone := behind == np.inf).any():
            gap[alone] = 0.0
        return gap

    @cached_property
    def log_total(self) -> Floats:
        """log(1 + A), minus the log of the largest probability."""
        return np.log1p(self.odds)


def row_sums(logits: LogitRows, /, *, scale: Floats | None = None, temperature: float = 1.0) -> RowSums:
    """The sums of every row of logits / temperature in float64, whatever their type, shape (n, K).

    ``scale`` of shape (K,) allows to ask for ``scaled_margin`` too.
    """
    return RowSums(logits, scale, temperature)
