"""The row sums behind every logit score: by the fused kernel for NumPy, by their own operations for other libraries."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj
from numpy.typing import NDArray

from abstain.arguments import as_rectangle
from abstain.kernels.rows import RowSums, row_sums

Array = Any  # a NumPy, torch, JAX or CuPy array; the same kind comes out


def logit_rows(logits: Array, /, *, scale: Array | None = None, temperature: float = 1.0) -> RowSums:
    """Gather the row sums of (n, K) logits.

    NumPy arrays are worked in float64 and refused where a row has NaN, +inf or nothing above −inf. Arrays of
    other libraries stay on their device and keep their type (at least float32) and gradient; they are not
    inspected, since that would wait for the device: an unusable row comes out as NaN, which no threshold accepts.
    """
    if not temperature > 0:
        raise ValueError(f"`temperature` must be above 0, got {temperature}.")
    logits = as_logits(logits)
    if scale is not None and scale.shape != (logits.shape[1],):
        raise ValueError(f"`weight` must have a row for each of the {logits.shape[1]} classes, got {len(scale)} rows.")
    if not isinstance(logits, np.ndarray):
        return _array_api_sums(logits, scale, temperature)
    sums = row_sums(logits, scale=scale, temperature=temperature)
    refuse(sums.prediction < 0)
    return sums


def refuse(bad: NDArray[np.bool_], /) -> None:
    """An error that names the first of the rows that cannot be scored, if there are any."""
    if bad.any():
        raise ValueError(
            "`logits` must hold finite numbers (or −inf for a masked class), got NaN, +inf or only −inf in "
            f"{np.count_nonzero(bad)} of {len(bad)} rows, first in row {int(np.argmax(bad))}."
        )


def as_logits(logits: Array, /) -> Array:
    """Checked logits (n, K): an array of any library as it is, anything else as a NumPy array."""
    if not is_array_api_obj(logits):
        logits = as_rectangle("logits", logits)
    check_logits(logits)
    return logits


def check_logits(logits: Array, /) -> None:
    """Two dimensions, at least one row and two classes, floating."""
    if logits.ndim != 2 or logits.shape[0] == 0:
        raise ValueError(
            f"`logits` must have shape (n, K) with at least one row, got {tuple(logits.shape)}. "
            "For one sample use logits[None]."
        )
    if logits.shape[1] < 2:
        raise ValueError(
            f"`logits` must have at least 2 columns, one per class, got {logits.shape[1]}. "
            "For a single sigmoid logit use abstain.scores.binary_logits(z)."
        )
    if "float" not in str(logits.dtype) or (isinstance(logits, np.ndarray) and logits.dtype.itemsize > 8):
        raise TypeError(f"`logits` must be floating numbers of at most 64 bits, got {logits.dtype}.")


def at_least_float32(logits: Array, /) -> Array:
    """Half precision widened, anything else as it is; NumPy arrays in float64."""
    xp = array_namespace(logits)
    if isinstance(logits, np.ndarray):
        return logits.astype(np.float64)
    half = str(logits.dtype).rpartition(".")[2] in ("float16", "bfloat16")
    return xp.astype(logits, xp.float32) if half else logits


def _array_api_sums(logits: Array, scale: Array | None, temperature: float) -> RowSums:
    xp = array_namespace(logits)
    logits = at_least_float32(logits)
    if temperature != 1:
        logits = logits / temperature
    z = xp.where(logits == xp.inf, xp.nan, logits)
    prediction = xp.argmax(z, axis=1)
    is_top = xp.arange(z.shape[1], device=device(z))[None, :] == prediction[:, None]
    top = xp.sum(xp.where(is_top, z, 0.0), axis=1)  # not max, whose gradient would be shared among ties
    top = xp.where(top == -xp.inf, xp.nan, top)
    others = xp.where(is_top, -xp.inf, z)
    second = xp.max(others, axis=1)
    alone = second == -xp.inf
    pivot = xp.where(alone, top, second)
    t = others - pivot[:, None]
    e = xp.exp(t)
    s1 = xp.where(alone, 1.0, xp.sum(e, axis=1))
    s2 = xp.sum(e * e, axis=1)
    st = xp.sum(e * xp.where(e > 0, t, 0.0), axis=1)
    gap = xp.where(alone, 0.0, (top - pivot) - st / s1)
    ratio = xp.exp(pivot - top) * (s2 / s1)
    nothing = 0.0 * top - xp.inf  # −inf, or NaN in a row without a usable logit
    tail = xp.where(alone, nothing, xp.log(s1) + (pivot - top))
    margin = top * xp.nan
    if scale is not None:
        scaled = z * xp.asarray(scale, dtype=z.dtype, device=device(z))[None, :]
        own = xp.sum(xp.where(is_top, scaled, 0.0), axis=1)
        margin = own - xp.max(xp.where(is_top, -xp.inf, scaled), axis=1)
    return RowSums(top, xp.where(alone, nothing, pivot), prediction, tail, ratio, gap, margin)
