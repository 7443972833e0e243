"""The row sums behind every logit score: by the fused kernel for NumPy, by their own operations for other libraries."""

from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from numpy.typing import NDArray

from abstain.arguments import as_rectangle
from abstain.kernels.row_sums import RowSums, row_sums
from abstain.scores.array_rows import ArrayRows
from abstain.scores.namespace import array_namespace

Array = Any  # a NumPy, torch, JAX or CuPy array; the same kind comes out


Rows = RowSums | ArrayRows
HOTTEST = 1e300  # beyond, a masked class could not be told from the others


def logit_rows(logits: Array, /, *, scale: Array | None = None, temperature: float = 1.0) -> Rows:
    """The row sums of checked (n, K) logits, each gathered when first asked for.

    NumPy arrays are worked by the kernel, in float64. Arrays of other libraries stay on their device and keep their
    type (at least float32) and gradient. An unusable row comes out as NaN, which no threshold accepts.
    """
    if not 0 < temperature <= HOTTEST:
        raise ValueError(f"`temperature` must be above 0 and at most {HOTTEST:g}, got {temperature}.")
    if scale is not None and scale.shape != (logits.shape[1],):
        raise ValueError(f"`weight` must have a row for each of the {logits.shape[1]} classes, got {len(scale)} rows.")
    if isinstance(logits, np.ndarray):
        return row_sums(logits, scale=scale, temperature=temperature)
    return ArrayRows(at_least_float32(logits), scale, temperature)


def refuse(bad: NDArray[np.bool_], /) -> None:
    """An error that names the first of the rows that cannot be scored, if there are any."""
    if bad.any():
        raise ValueError(
            "`logits` must hold finite numbers (or −inf for a masked class), got NaN, +inf or only −inf in "
            f"{np.count_nonzero(bad)} of {len(bad)} rows, first in row {int(np.argmax(bad))}."
        )


def as_logits(logits: Array, /) -> Array:
    """Checked logits (n, K): an array of any library as it is, anything else as a NumPy array."""
    if isinstance(logits, np.ndarray) or not is_array_api_obj(logits):
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
