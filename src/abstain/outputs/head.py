"""Whether the given last layer makes the given logits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._kernels.blocks import row_blocks

TOLERANCE = 1e-3


@dataclass(frozen=True)
class HeadCheck:
    """How far features·Wᵀ + b is from the logits.

    Attributes
    ----------
    deviation : float
        The largest absolute difference.
    scale : float
        The largest absolute logit, at least 1.
    row : int
        The row of the largest difference.
    """

    deviation: float
    scale: float
    row: int

    @property
    def agrees(self) -> bool:
        """Whether the deviation is at most a thousandth of the scale."""
        return self.deviation <= TOLERANCE * self.scale

    def __str__(self) -> str:
        verdict = "agrees with" if self.agrees else "does NOT make"
        return (
            f"the head {verdict} the logits: largest deviation {self.deviation:.3g} (row {self.row}) "
            f"at a logit scale of {self.scale:.3g}"
        )


def check_head(
    logits: NDArray[Any], features: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None, /
) -> HeadCheck:
    """Recompute the logits block by block in float64; masked (−inf) and non-finite entries are skipped."""
    deviation, scale, row = 0.0, 1.0, 0
    transposed = weight.astype(np.float64).T
    for block in row_blocks(len(logits), max(logits.shape[1], features.shape[1])):
        with np.errstate(invalid="ignore", over="ignore"):
            made = features[block].astype(np.float64) @ transposed + (0.0 if bias is None else bias)
            given = logits[block].astype(np.float64)
            finite = np.isfinite(given) & np.isfinite(made)
            apart = np.where(finite, np.abs(made - given), 0.0)
        scale = max(scale, float(np.abs(given, where=finite, out=np.zeros_like(given)).max()))
        worst = apart.max(axis=1)
        if worst.max() > deviation:
            deviation, row = float(worst.max()), block.start + int(worst.argmax())
    return HeadCheck(deviation, scale, row)
