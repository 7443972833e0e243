"""The row sums behind every logit score: by the fused kernel for NumPy, by their own operations for other libraries."""

from typing import final

import numpy as np
from array_api_compat import device, is_array_api_obj
from numpy.typing import NDArray

from abstain._arguments import as_rectangle
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain._kernels.row_sums import RowSums, row_sums
from abstain.scores.operations import Array, array_namespace

LOWEST = -1e4  # its exponential is 0 in any precision
CERTAIN = 1e12  # stands for the infinite confidence of a row with one class left


@final
class ArrayRows:
    """What `abstain._kernels.row_sums.RowSums` holds, in the type of the logits (n, K), which are at least float32.

    Each is computed when first asked for. A non-finite row comes out as NaN.
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
        """−inf, or NaN in a row without a finite logit."""
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


Rows = RowSums | ArrayRows
HOTTEST = 1e300  # beyond it, a masked class equals the others


def logit_rows(logits: Array, /, *, scale: Array | None = None, temperature: float = 1.0) -> Rows:
    """The row sums of checked (n, K) logits, each gathered when first asked for.

    NumPy arrays are worked by the kernel, in float64. Arrays of other libraries stay on their device and keep their
    type (at least float32) and gradient. A non-finite row comes out as NaN, which no threshold accepts.
    """
    if not 0 < temperature <= HOTTEST:
        raise InvalidInputError(f"`temperature` must be above 0 and at most {HOTTEST:g}, got {temperature}.")
    if scale is not None and scale.shape != (logits.shape[1],):
        raise InvalidInputError(
            f"`weight` must have a row for each of the {logits.shape[1]} classes, got {len(scale)} rows."
        )
    if isinstance(logits, np.ndarray):
        return row_sums(logits, scale=scale, temperature=temperature)
    return ArrayRows(at_least_float32(logits), scale, temperature)


def refuse(bad: NDArray[np.bool_], /) -> None:
    """An error that names the first of the rows that cannot be scored, if there are any."""
    if bad.any():
        raise InvalidInputError(
            "`logits` must hold finite numbers (or −inf for a masked class), got NaN, +inf or only −inf in "
            f"{np.count_nonzero(bad)} of {len(bad)} rows, first in row {int(np.argmax(bad))}."
        )


def as_logits(logits: Array, /) -> Array:
    """Checked logits (n, K), n ≥ 1 and K ≥ 2: an array of any library as it is, anything else as a NumPy array."""
    if isinstance(logits, np.ndarray) or not is_array_api_obj(logits):
        logits = as_rectangle("logits", logits)
    if logits.ndim != 2 or logits.shape[0] == 0:
        raise InvalidInputError(
            f"`logits` must have shape (n, K) with at least one row, got {tuple(logits.shape)}. "
            "For one sample use logits[None]."
        )
    if logits.shape[1] < 2:
        raise InvalidInputError(
            f"`logits` must have at least 2 columns, one per class, got {logits.shape[1]}. "
            "For a single sigmoid logit use abstain.scores.binary_logits(z)."
        )
    if "float" not in str(logits.dtype) or (isinstance(logits, np.ndarray) and logits.dtype.itemsize > 8):
        raise InvalidTypeError(f"`logits` must be floating numbers of at most 64 bits, got {logits.dtype}.")
    return logits


def at_least_float32(logits: Array, /) -> Array:
    """Half precision widened, anything else as it is; NumPy arrays in float64."""
    xp = array_namespace(logits)
    if isinstance(logits, np.ndarray):
        return logits.astype(np.float64)
    half = str(logits.dtype).rpartition(".")[2] in ("float16", "bfloat16")
    return xp.astype(logits, xp.float32) if half else logits


def binary_logits(logit: Array, /) -> Array:
    """The logits [0, z] whose softmax is the sigmoid of z, from a single sigmoid output.

    Parameters
    ----------
    logit : array (n,) or (n, 1)
        z, before the sigmoid.

    Returns
    -------
    array (n, 2)
        Logits of two classes.

    Examples
    --------
    >>> binary_logits(np.array([1.5, -0.5]))
    array([[ 0. ,  1.5],
           [ 0. , -0.5]])
    """
    if not is_array_api_obj(logit):
        logit = np.asarray(logit)
    if logit.ndim not in (1, 2) or (logit.ndim == 2 and logit.shape[1] != 1):
        raise InvalidInputError(f"`logit` must have shape (n,) or (n, 1), got {tuple(logit.shape)}.")
    xp = array_namespace(logit)
    logit = xp.reshape(logit, (-1,))
    return xp.stack([xp.zeros_like(logit), logit], axis=1)
