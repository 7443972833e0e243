"""What the largest features add to the logits, which are few: a product with a matrix that is mostly zero."""

import numpy as np
from numpy.typing import NDArray

from abstain.kernels.blocks import for_each_block
from abstain.kernels.compiled import array, as_given, compiled, double, given, single, whole

LANES = 128  # classes whose weights stay in cache while many rows pass
ROWS = 64


def lanes(weight: NDArray[np.floating], /) -> NDArray[np.floating]:
    """The weight (K, d) as (K/128, d, 128), filled up with zeros, in float32 if that holds it exactly."""
    k, d = weight.shape
    blocks = -(-k // LANES)
    kind = np.float32 if (weight.astype(np.float32) == weight).all() else np.float64
    found = np.zeros((blocks * LANES, d), dtype=kind)
    found[:k] = weight
    return np.ascontiguousarray(found.reshape(blocks, LANES, d).transpose(0, 2, 1))


@compiled(
    *(
        (
            given(kind),
            double,
            array(of_weight, 3),
            array(whole),
            array(double),
            array(whole),
            array(double),
            array(double, 2),
        )
        for kind, other in ((single, double), (double, single))
        for of_weight in (kind, other)
    ),
    fastmath={"contract"},
    late=2,
)
def _subtract(features, limit, weight, places, excess, ends, total, logits):  # type: ignore[no-untyped-def]
    rows, d = features.shape
    count = 0
    for i in range(rows):
        for t in range(d):
            beyond = np.float64(features[i, t]) - limit
            places[count] = t  # written over unless it counts, which is faster than to ask
            excess[count] = beyond
            count += beyond > 0
        while count % 4:  # the loop below takes four at a time, in each row by itself
            places[count] = 0
            excess[count] = 0.0
            count += 1
        ends[i] = count
    for b in range(weight.shape[0]):
        start = 0
        left = logits.shape[1] - b * LANES
        for i in range(rows):
            total[:] = 0.0
            for c in range(start, ends[i], 4):
                e0, e1, e2, e3 = excess[c], excess[c + 1], excess[c + 2], excess[c + 3]
                w0, w1 = weight[b, places[c]], weight[b, places[c + 1]]
                w2, w3 = weight[b, places[c + 2]], weight[b, places[c + 3]]
                for j in range(LANES):
                    total[j] += (e0 * w0[j] + e1 * w1[j]) + (e2 * w2[j] + e3 * w3[j])
            start = ends[i]
            for j in range(LANES if left > LANES else left):
                logits[i, b * LANES + j] -= total[j]


def less_excess(
    logits: NDArray[np.floating], features: NDArray[np.floating], limit: float, weight: NDArray[np.floating], /
) -> NDArray[np.float64]:
    """Logits less max(x − limit, 0)·Wᵀ in float64, each row by itself; the weight as `lanes` gives it."""
    found = logits.astype(np.float64)

    def work(block: slice) -> None:
        most = ROWS * (features.shape[1] + 3)
        space = np.empty(most, np.int64), np.empty(most), np.empty(ROWS, np.int64), np.empty(LANES)
        for start in range(block.start, block.stop, ROWS):
            rows = slice(start, min(start + ROWS, block.stop))
            _subtract(as_given(features[rows]), limit, weight, *space, found[rows])

    for_each_block(work, *features.shape)
    return found
