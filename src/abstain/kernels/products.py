"""Matrix products whose rows do not depend on the rows beside them."""

import numpy as np
from numpy.typing import NDArray

ROWS = 256


def row_products(
    rows: NDArray[np.floating], matrix: NDArray[np.float64], offset: NDArray[np.float64] | None = None, /
) -> NDArray[np.float64]:
    """``rows @ matrix + offset`` in float64, (n, d) times (d, m) plus (m,).

    BLAS takes other paths for other shapes, so a sample alone and the same sample in a batch would differ in the last
    bits. Here every call it sees has the same shape: blocks of 256 rows, the last one filled up with zeros.
    """
    n, d = rows.shape
    full = -(-n // ROWS) * ROWS
    products = np.empty((full, matrix.shape[1]))
    block = np.zeros((ROWS, d))
    for start in range(0, n, ROWS):
        part, found = rows[start : start + ROWS], products[start : start + ROWS]
        block[: len(part)] = part
        np.matmul(block, matrix, out=found)
        if offset is not None:
            found += offset
    return products[:n]
