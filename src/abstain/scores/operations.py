"""The few operations that formulas are made of: exact kernels for NumPy arrays, their own operations for others."""

from typing import Any

import array_api_compat
import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._kernels.blocks import for_each_block
from abstain._kernels.features import row_products

Array = Any  # a NumPy, torch, JAX or CuPy array; the same kind comes out


def array_namespace(*arrays: Any) -> Any:
    """NumPy itself for its own arrays: it needs no wrapper, whose import takes as long as that of NumPy."""
    if all(isinstance(array, (np.ndarray, np.generic)) for array in arrays):  # a tuple, which torch compiles
        return np
    return array_api_compat.array_namespace(*arrays)


def double(values: Array, /) -> Array:
    """The values in float64."""
    xp = array_namespace(values)
    return xp.astype(values, xp.float64, copy=False)


def constant(values: NDArray[Any], like: Array, /) -> Array:
    """An array of numbers in float64 where ``like`` is; stored as it was given."""
    return double(array_namespace(like).asarray(np.ascontiguousarray(values), device=device(like)))


def products(rows: Array, matrix: Floats, offset: Floats | None = None, /) -> Array:
    """``rows @ matrix + offset`` in float64, (n, d) times (d, m) plus (m,)."""
    if isinstance(rows, np.ndarray):
        return row_products(rows, matrix, offset)
    product = rows @ constant(matrix, rows)
    return product if offset is None else product + constant(offset[None], rows)


def norms(rows: Array, /) -> Array:
    """Norms (n,) of rows (n, d)."""
    if isinstance(rows, np.ndarray):
        return np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    xp = array_namespace(rows)
    return xp.sqrt(xp.sum(rows * rows, axis=1))


def unit_rows(rows: Array, like: NDArray[Any], /) -> Array:
    """Rows over their norms, rounded to float32 where ``like`` was; a row of zeros stays one."""
    if isinstance(rows, np.ndarray):
        return normalized(rows, like.dtype)
    xp = array_namespace(rows)
    rows = double(rows)
    size = norms(rows)
    units = rows / xp.where(size < 1e-12, 1e-12, size)[:, None]
    return double(xp.astype(units, xp.float32)) if like.dtype == np.float32 else units


def normalized(rows: NDArray[np.floating], dtype: np.dtype[Any] | None = None, /) -> NDArray[np.floating]:
    """Rows divided by their norms, by default in float32 if they were given in no more; a row of zeros stays one."""
    units = np.empty(rows.shape, dtype=dtype or (np.float64 if rows.dtype.itemsize > 4 else np.float32))

    def work(block: slice) -> None:
        size = np.maximum(norms(rows[block]), 1e-12)[:, None]
        np.divide(rows[block], size, out=units[block], casting="same_kind")

    for_each_block(work, *rows.shape)
    return units


def sorted_rows(rows: Array, /) -> Array:
    """The values of each row (n, d) from the smallest to the largest."""
    if not isinstance(rows, np.ndarray):
        return array_namespace(rows).sort(rows, axis=1)
    ordered = np.empty_like(rows, order="C")

    def work(block: slice) -> None:
        ordered[block] = np.sort(rows[block], axis=1)

    for_each_block(work, *rows.shape)
    return ordered


def running_max(rows: Array, d: int, /) -> Array:
    """The largest of each row (n, d) up to each column."""
    xp, step = array_namespace(rows), 1
    while step < d:
        rows = xp.concat([rows[:, :step], xp.maximum(rows[:, step:], rows[:, :-step])], axis=1)
        step *= 2
    return rows


def take_along_rows(rows: Array, indices: Array, d: int, /) -> Array:
    """The values (n, d) of each row at its own indices (n, d)."""
    xp = array_namespace(rows)
    before = xp.cumulative_sum(xp.ones_like(indices), axis=0) - 1  # of rows, however many there will be in a graph
    return xp.reshape(xp.take(xp.reshape(rows, (-1,)), xp.reshape(d * before + indices, (-1,)), axis=0), (-1, d))


def largest(rows: Array, count: int, /) -> Array:
    """Of each row (n, K) the largest values, descending; as many as asked for or as there are."""
    if not isinstance(rows, np.ndarray):
        return array_namespace(rows).sort(rows, axis=1, descending=True)[:, :count]
    if count < rows.shape[1]:
        rows = np.partition(rows, -count, axis=1)[:, -count:]
    return np.sort(rows, axis=1)[:, ::-1]


def is_constant(rows: NDArray[Any], /) -> bool:
    """Whether all rows are the same."""
    return bool((rows == rows[0]).all())


def softplus(values: Array, /) -> Array:
    """log(1 + e^x) without overflow."""
    xp = array_namespace(values)
    return xp.where(values > 0, values, 0.0) + xp.log1p(xp.exp(-xp.abs(values)))


def minus_exp(confidence: Array, /) -> Array:
    """The literal value −e^−c of scores whose confidence is minus the log of a quantity that certainty makes small.

    DOCTOR's 1 − 1/‖σ‖², the negative entropy Σσ log σ, and SIRC's −(1 − p_max)(1 + e^{−b(s − a)}).
    """
    return -array_namespace(confidence).exp(-confidence)


def at_most(values: Array, limit: float, /) -> Array:
    """The values, those above the limit lowered to it."""
    if isinstance(values, np.ndarray):
        return np.minimum(values, np.float64(limit))
    return array_namespace(values).where(values > limit, limit, values)


def at_least(values: Array, limit: float, /) -> Array:
    """The values, those below the limit raised to it."""
    if isinstance(values, np.ndarray):
        return np.maximum(values, np.float64(limit))
    return array_namespace(values).where(values < limit, limit, values)


def quantile(values: NDArray[np.floating], share: float, /) -> float:
    """The quantile with linear interpolation in float64, of values partitioned in their own type, which is faster."""
    flat = np.array(values if values.dtype.itemsize > 2 else values.astype(np.float32)).ravel()
    position = share * (flat.size - 1)
    below = min(int(position), flat.size - 1)
    above = min(below + 1, flat.size - 1)
    flat.partition((below, above))
    low, high = float(flat[below]), float(flat[above])
    return low + (position - below) * (high - low)
