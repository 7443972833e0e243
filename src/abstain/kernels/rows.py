"""One pass over the logits that gathers all that any logit score needs of a row.

The loops that allow ``fastmath`` flags do so to run in vector lanes; they only see rows without NaN.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.exponential import LOWEST, exp_nonpositive


class RowSums(NamedTuple):
    """Of each row z with largest logit z₁ at i*, and dⱼ = zⱼ − z₁ for j ≠ i*: arrays of shape (n,)."""

    top: NDArray[np.float64]
    """z₁, or NaN where the row has a NaN, a +inf or nothing above −inf; such a row is NaN throughout."""
    second: NDArray[np.float64]
    """The largest of the others."""
    prediction: NDArray[np.int64]
    """i*, the first index of the largest logit, or −1 where ``top`` is NaN."""
    tail: NDArray[np.float64]
    """L = log Σ exp dⱼ."""
    ratio: NDArray[np.float64]
    """Σ exp 2dⱼ / Σ exp dⱼ, between 0 and 1."""
    gap: NDArray[np.float64]
    """The mean of −dⱼ under weights exp(dⱼ − L); 0 where no other class is above −inf."""
    scaled_margin: NDArray[np.float64]
    """z_{i*} s_{i*} − max zⱼ sⱼ for the column scales s."""


@njit(nogil=True, cache=True)
def _is_usable(z: NDArray[np.floating]) -> bool:
    """No NaN, no +inf, and something above −inf."""
    bad = 0
    above = 0
    for j in range(z.size):
        bad += not (z[j] < np.inf)
        above += z[j] > -np.inf
    return bad == 0 and above > 0


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _largest(z: NDArray[np.floating]) -> float:
    largest = -np.inf
    for j in range(z.size):
        largest = max(largest, z[j])
    return largest


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _largest_scaled(z: NDArray[np.floating], scale: NDArray[np.float64]) -> float:
    largest = -np.inf
    for j in range(z.size):
        largest = max(largest, z[j] * scale[j])
    return largest


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz", "contract"})
def _tail_sums(z: NDArray[np.floating], second: float) -> tuple[float, float, float]:
    """Σ e^t, Σ e^{2t}, Σ t e^t with t = min(z − second, 0); the top logit adds exactly 1, 1 and 0."""
    s1 = 0.0
    s2 = 0.0
    st = 0.0
    for j in range(z.size):
        t = np.float64(z[j]) - second
        t = t if t < 0.0 else 0.0
        t = t if t > LOWEST else LOWEST  # a masked class, at −inf, must not make 0 · inf
        e = exp_nonpositive(t)
        s1 += e
        s2 += e * e
        st += e * t
    return s1, s2, st


@njit(nogil=True, cache=True)
def _fill(logits, scale, top, second, prediction, tail, ratio, gap, margin):  # type: ignore[no-untyped-def]
    for i in range(logits.shape[0]):
        z = logits[i]
        if not _is_usable(z):
            prediction[i] = -1
            top[i] = second[i] = tail[i] = ratio[i] = gap[i] = margin[i] = np.nan
            continue
        z1 = _largest(z)
        best = 0
        while z[best] != z1:
            best += 1
        z2 = max(_largest(z[:best]), _largest(z[best + 1 :]))
        top[i] = z1
        second[i] = z2
        prediction[i] = best
        if scale.size:
            rival = max(_largest_scaled(z[:best], scale[:best]), _largest_scaled(z[best + 1 :], scale[best + 1 :]))
            margin[i] = z[best] * scale[best] - rival
        if z2 == -np.inf:  # one class left standing
            tail[i] = -np.inf
            ratio[i] = gap[i] = 0.0
            continue
        s1, s2, st = _tail_sums(z, z2)
        tail[i] = np.log(s1 - 1) + (z2 - z1)
        ratio[i] = np.exp(z2 - z1) * ((s2 - 1) / (s1 - 1))
        gap[i] = (z1 - z2) - st / (s1 - 1)


def row_sums(
    logits: NDArray[np.floating], /, *, scale: NDArray[np.float64] | None = None, temperature: float = 1.0
) -> RowSums:
    """Gather the sums of every row of logits / temperature in float64, whatever their type, shape (n, K).

    ``scale`` of shape (K,) asks for ``scaled_margin`` too, which is NaN otherwise.
    """
    n, k = logits.shape
    sums = RowSums(
        **{name: np.full(n, np.nan) for name in RowSums._fields if name != "prediction"},
        prediction=np.empty(n, dtype=np.int64),
    )
    scale = np.empty(0) if scale is None else np.ascontiguousarray(scale, dtype=np.float64)

    def work(block: slice) -> None:
        z = np.asarray(logits[block])
        z = np.ascontiguousarray(z, dtype=np.float64 if z.dtype.itemsize > 4 or temperature != 1 else np.float32)
        _fill(z if temperature == 1 else z / temperature, scale, *(field[block] for field in sums))

    for_each_block(work, n, k)
    return sums
