"""Passes over the features: products with a matrix, logits of clipped features, features replaced by rank."""

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Floats
from abstain._kernels.blocks import for_each_block
from abstain._kernels.compilation import array, as_given, compiled, double, given, single, whole

PRODUCT_ROWS = 256


def row_products(
    rows: NDArray[np.floating], matrix: NDArray[np.float64], offset: NDArray[np.float64] | None = None, /
) -> NDArray[np.float64]:
    """``rows @ matrix + offset`` in float64, (n, d) times (d, m) plus (m,).

    BLAS uses different code for different shapes, so that a sample alone and the same sample in a batch would differ in
    the last bits. Here every call has the same shape: blocks of 256 rows, the last one padded with zeros.
    """
    n, d = rows.shape
    full = -(-n // PRODUCT_ROWS) * PRODUCT_ROWS
    products = np.empty((full, matrix.shape[1]))
    block = np.zeros((PRODUCT_ROWS, d))
    for start in range(0, n, PRODUCT_ROWS):
        part, product = rows[start : start + PRODUCT_ROWS], products[start : start + PRODUCT_ROWS]
        block[: len(part)] = part
        np.matmul(block, matrix, out=product)
        if offset is not None:
            product += offset
    return products[:n]


CLASSES = 128  # classes whose weights stay in cache while many rows pass
EXCESS_ROWS = 64


def class_blocks(weight: NDArray[np.floating], /) -> NDArray[np.floating]:
    """The weight (K, d) as (K/128, d, 128), padded with zeros, in float32 if that holds it exactly."""
    k, d = weight.shape
    blocks = -(-k // CLASSES)
    kind = np.float32 if (weight.astype(np.float32) == weight).all() else np.float64
    padded = np.zeros((blocks * CLASSES, d), dtype=kind)
    padded[:k] = weight
    return np.ascontiguousarray(padded.reshape(blocks, CLASSES, d).transpose(0, 2, 1))


@compiled(
    *(
        (
            given(kind),
            double,
            array(of_weight, 3),
            array(whole),
            array(double),
            array(whole),
            array(double, 2),
        )
        for kind, other in ((single, double), (double, single))
        for of_weight in (kind, other)
    ),
    fastmath={"contract"},
    late=2,
)
def _subtract(features, limit, weight, columns, excess, ends, logits):  # type: ignore[no-untyped-def]
    rows, d = features.shape
    total, count = np.empty(CLASSES), 0
    for i in range(rows):
        for t in range(d):
            beyond = np.float64(features[i, t]) - limit
            columns[count] = t  # overwritten by the next unless it counts: faster than a branch
            excess[count] = beyond
            count += beyond > 0
        while count % 4:  # the loop below handles four at a time, each row separately
            columns[count] = 0
            excess[count] = 0.0
            count += 1
        ends[i] = count
    for b in range(weight.shape[0]):
        start = 0
        left = logits.shape[1] - b * CLASSES
        for i in range(rows):
            total[:] = 0.0
            for c in range(start, ends[i], 4):
                e0, e1, e2, e3 = excess[c], excess[c + 1], excess[c + 2], excess[c + 3]
                w0, w1 = weight[b, columns[c]], weight[b, columns[c + 1]]
                w2, w3 = weight[b, columns[c + 2]], weight[b, columns[c + 3]]
                for j in range(CLASSES):
                    total[j] += (e0 * w0[j] + e1 * w1[j]) + (e2 * w2[j] + e3 * w3[j])
            start = ends[i]
            for j in range(CLASSES if left > CLASSES else left):
                logits[i, b * CLASSES + j] -= total[j]


def less_excess(
    logits: NDArray[np.floating], features: NDArray[np.floating], limit: float, weight: NDArray[np.floating], /
) -> NDArray[np.float64]:
    """Logits less max(x − limit, 0)·Wᵀ in float64, each row separately; the weight is what `class_blocks` returns."""
    clipped = logits.astype(np.float64)

    def work(block: slice) -> None:
        most = EXCESS_ROWS * (features.shape[1] + 3)
        space = np.empty(most, np.int64), np.empty(most), np.empty(EXCESS_ROWS, np.int64)
        for start in range(block.start, block.stop, EXCESS_ROWS):
            rows = slice(start, min(start + EXCESS_ROWS, block.stop))
            _subtract(as_given(features[rows]), limit, weight, *space, clipped[rows])

    for_each_block(work, *features.shape)
    return clipped


@compiled(*((given(kind), given(kind), array(double), array(double), array(double, 2)) for kind in (single, double)))
def _fill_at_ranks(features, ordered, sums, means, values):  # type: ignore[no-untyped-def]
    n, d = features.shape
    for i in range(n):
        first = 0
        while first < d:
            after = first + 1
            while after < d and ordered[i, after] == ordered[i, first]:
                after += 1
            means[first:after] = (sums[after] - sums[first]) / (after - first)
            first = after
        for t in range(d):
            feature, rank, left = features[i, t], 0, d
            while left > 1:  # the last rank that is not above the feature
                half = left >> 1
                rank += half if ordered[i, rank + half] <= feature else 0
                left -= half
            values[i, t] = means[rank]


def at_ranks(features: NDArray[np.floating], ordered: NDArray[np.floating], sums: Floats, /) -> Floats:
    """The mean of a profile (d,) over the ranks that each feature (n, d) has among those of its row, which tie or not.

    ``ordered`` are the features, each row ascending, and ``sums`` (d + 1,) those of the profile up to each rank.
    """
    values = np.empty(features.shape)

    def work(block: slice) -> None:
        _fill_at_ranks(
            as_given(features[block]), as_given(ordered[block]), sums, np.empty(len(sums) - 1), values[block]
        )

    for_each_block(work, *features.shape)
    return values
