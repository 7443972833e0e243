"""The row sums of the logits by the operations of any array library: on its device, with gradients, in graphs."""

from typing import Any, final

from array_api_compat import device

from abstain.cached_property import cached_property
from abstain.scores.namespace import array_namespace

Array = Any
LOWEST = -1e4  # its exponential is 0 in any precision


@final
class ArrayRows:
    """What `abstain.kernels.row_sums.RowSums` holds, in the type of the logits (n, K), which are at least float32.

    Each is computed when first asked for. An unusable row comes out as NaN.
    """

    def __init__(self, logits: Array, scale: Array | None, temperature: float) -> None:
        self._xp = array_namespace(logits)
        self._z = logits / temperature if temperature != 1 else logits
        self._scale = scale

    @cached_property
    def prediction(self) -> Array:
        """i*, the first index of the largest logit."""
        return self._xp.argmax(self._z, axis=1)

    @cached_property
    def top(self) -> Array:
        """z₁, or NaN; not by max, whose gradient ties would share, nor looked up by row, which no export can do."""
        xp = self._xp
        top = xp.sum(xp.where(self._is_top, self._z, 0.0), axis=1)
        return xp.where((top == xp.inf) | (top == -xp.inf), xp.nan, top)

    @cached_property
    def _is_top(self) -> Array:
        return self._xp.arange(self._z.shape[1], device=device(self._z))[None, :] == self.prediction[:, None]

    @cached_property
    def _others(self) -> Array:
        return self._xp.where(self._is_top, -self._xp.inf, self._z)

    @cached_property
    def _second(self) -> Array:
        return self._xp.max(self._others, axis=1)

    @cached_property
    def _alone(self) -> Array:
        return self._second == -self._xp.inf

    @cached_property
    def _nothing(self) -> Array:
        """−inf, or NaN in a row without a usable logit."""
        return 0.0 * self.top - self._xp.inf

    @cached_property
    def second(self) -> Array:
        """The largest of the others."""
        return self._xp.where(self._alone, self._nothing, self._pivot + 0.0 * self.top)

    @cached_property
    def margin(self) -> Array:
        """z₁ less the largest of the others."""
        return self.top - self.second

    @cached_property
    def _pivot(self) -> Array:
        return self._xp.where(self._alone, self.top, self._second)

    @cached_property
    def _powers(self) -> tuple[Array, Array]:
        """Of the others z − pivot, and its exponential."""
        t = self._xp.clip(self._others - self._pivot[:, None], min=LOWEST)
        return t, self._xp.exp(t)

    @cached_property
    def _sum(self) -> Array:
        return self._xp.where(self._alone, 1.0, self._xp.sum(self._powers[1], axis=1))

    @cached_property
    def tail(self) -> Array:
        """L = log Σ exp dⱼ."""
        return self._xp.where(self._alone, self._nothing, self._xp.log(self._sum) + (self._pivot - self.top))

    @cached_property
    def ratio(self) -> Array:
        """Σ exp 2dⱼ / Σ exp dⱼ, between 0 and 1."""
        _, e = self._powers
        return self._xp.exp(self._pivot - self.top) * (self._xp.sum(e * e, axis=1) / self._sum)

    @cached_property
    def gap(self) -> Array:
        """The mean of −dⱼ under weights exp(dⱼ − L); 0 where no other class is above −inf."""
        t, e = self._powers
        behind = self._xp.sum(e * t, axis=1) / self._sum
        return self._xp.where(self._alone, 0.0, (self.top - self._pivot) - behind)

    @cached_property
    def scaled_margin(self) -> Array:
        """z_{i*} s_{i*} − max zⱼ sⱼ for the column scales s; NaN without scales."""
        if self._scale is None:
            return self.top * self._xp.nan
        scale = self._xp.asarray(self._scale, dtype=self._z.dtype, device=device(self._z))
        rival = self._xp.max(self._others * scale[None, :], axis=1)
        return self.top * self._xp.take(scale, self.prediction, axis=0) - rival

    @cached_property
    def odds(self) -> Array:
        """A = e^L."""
        return self._xp.exp(self.tail)

    @cached_property
    def log_total(self) -> Array:
        """log(1 + A), minus the log of the largest probability."""
        return self._xp.log1p(self.odds)
