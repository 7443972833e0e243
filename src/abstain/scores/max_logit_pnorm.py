"""MaxLogit-pNorm: the largest centred logit over the norm of all."""

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.kernels.blocks import row_blocks
from abstain.metrics import aurc
from abstain.outputs import Outputs
from abstain.scores.fitting import Fitted, Fitter
from abstain.scores.max_softmax import max_softmax
from abstain.scores.rows import Array, check_logits

NORMS = tuple(range(10))


def max_logit_pnorm(logits: Array, /, *, p: float) -> Array:
    r"""Largest centred logit over the p-norm, :math:`\max c / \|c\|_p` with c = z − mean z; p = 0 leaves the norm out.

    Free of the scale of the logits, which repairs over-confident networks. (Cattelan & Silva, 2024)

    >>> max_logit_pnorm(np.array([[2.0, 1.0, 0.1, -1.0]]), p=2).round(6)
    array([0.665828])
    """
    check_logits(logits)
    if not p >= 0:
        raise ValueError(f"`p` must be at least 0, got {p}.")
    xp = array_namespace(logits)
    if isinstance(logits, np.ndarray):
        logits = logits.astype(np.float64)
    known = logits > -xp.inf
    count = xp.sum(xp.astype(known, logits.dtype), axis=1, keepdims=True)
    centred = xp.where(known, logits - xp.sum(xp.where(known, logits, 0.0), axis=1, keepdims=True) / count, 0.0)
    top = xp.max(centred, axis=1)
    if p == 0:
        return top
    size = xp.abs(centred)
    largest = xp.max(size, axis=1, keepdims=True)
    largest = xp.where(largest > 0, largest, 1.0)  # equal logits have a score of 0
    norm = largest[:, 0] if p == inf else largest[:, 0] * xp.sum((size / largest) ** p, axis=1) ** (1 / p)
    return top / xp.where(norm > 0, norm, 1.0)


@final
@dataclass(frozen=True)
class MaxLogitPNorm(Fitter):
    """MaxLogit-pNorm with the p of lowest AURC on the calibration sample, or max softmax where that is no worse."""

    norms: tuple[float, ...] = NORMS

    def fit(self, calibration: Outputs, /) -> "FittedMaxLogitPNorm":
        """Choose p."""
        best, best_area = -1.0, aurc(max_softmax(calibration.logits), calibration.errors)
        for p in self.norms:
            area = aurc(max_logit_pnorm(calibration.logits, p=p), calibration.errors)
            if area < best_area:
                best, best_area = float(p), area
        return FittedMaxLogitPNorm(best)


@final
@dataclass(frozen=True, eq=False)
class FittedMaxLogitPNorm(Fitted):
    """MaxLogit-pNorm with its p; below zero it is max softmax."""

    p: float

    def __call__(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """The score with the p chosen."""
        if self.p < 0:
            return np.asarray(max_softmax(outputs.logits))
        blocks = row_blocks(*outputs.logits.shape)
        return np.concatenate([max_logit_pnorm(outputs.logits[block], p=self.p) for block in blocks])
