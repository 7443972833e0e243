"""The row sums behind every logit score: by the fused kernel for NumPy, by their own operations for other libraries."""

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

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
    if not is_array_api_obj(logits) or isinstance(logits, np.ndarray):
        logits = np.asarray(logits)
    check_logits(logits)
    if not isinstance(logits, np.ndarray):
        return _array_api_sums(logits if temperature == 1 else logits / temperature, scale)
    sums = row_sums(logits, scale=scale, temperature=temperature)
    if (sums.prediction < 0).any():
        bad = sums.prediction < 0
        raise ValueError(
            "`logits` must hold finite numbers (or −inf for a masked class), got NaN, +inf or only −inf in "
            f"{np.count_nonzero(bad)} of {len(bad)} rows, first in row {int(np.argmax(bad))}."
        )
    return sums


def check_logits(logits: Array, /) -> None:
    """Two dimensions, at least one row and two classes, floating."""
    if logits.ndim != 2:
        raise ValueError(
            f"`logits` must have shape (n, K), got {tuple(logits.shape)}. For one sample use logits[None]."
        )
    if logits.shape[1] < 2:
        raise ValueError(
            f"`logits` must have at least 2 columns, one a class, got {logits.shape[1]}. "
            "For a single sigmoid logit use abstain.scores.binary_logits(z)."
        )
    if "float" not in str(logits.dtype) or (isinstance(logits, np.ndarray) and logits.dtype.itemsize > 8):
        raise TypeError(f"`logits` must be floating numbers of at most 64 bits, got {logits.dtype}.")


def _array_api_sums(logits: Array, scale: Array | None) -> RowSums:
    xp = array_namespace(logits)
    if str(logits.dtype).rpartition(".")[2] in ("float16", "bfloat16"):
        logits = xp.astype(logits, xp.float32)
    z = xp.where(logits == xp.inf, xp.nan, logits)
    prediction = xp.argmax(z, axis=1)
    is_top = xp.arange(z.shape[1], device=device(z))[None, :] == prediction[:, None]
    top = xp.sum(xp.where(is_top, z, 0.0), axis=1)  # not max, whose gradient would be shared among ties
    others = xp.where(is_top, -xp.inf, z)
    second = xp.max(others, axis=1)
    alone = second == -xp.inf
    t = others - xp.where(alone, 0.0, second)[:, None]
    e = xp.exp(t)
    s1 = xp.sum(e, axis=1)
    s2 = xp.sum(e * e, axis=1)
    st = xp.sum(e * xp.where(e > 0, t, 0.0), axis=1)
    s1_safe = xp.where(alone, 1.0, s1)
    gap = xp.where(alone, 0.0, (top - second) - st / s1_safe)
    ratio = xp.exp(second - top) * (s2 / s1_safe)
    margin = top * xp.nan
    if scale is not None:
        scaled = z * xp.asarray(scale, dtype=z.dtype, device=device(z))[None, :]
        own = xp.sum(xp.where(is_top, scaled, 0.0), axis=1)
        margin = own - xp.max(xp.where(is_top, -xp.inf, scaled), axis=1)
    return RowSums(top, second, prediction, xp.log(s1) + (second - top), ratio, gap, margin)
