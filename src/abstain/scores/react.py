"""ReAct: a logit score after clipping the features."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from abstain.kernels.products import row_products
from abstain.outputs import Outputs
from abstain.scores.arrays import constant
from abstain.scores.energy import ENERGY
from abstain.scores.fitting import Fitted, Fitter, features_of, head_of
from abstain.scores.head import Head
from abstain.scores.norms import row_norms
from abstain.scores.rows import logit_rows
from abstain.scores.score import LogitScore

ROWS = 4096


@final
@dataclass(frozen=True)
class ReAct(Fitter):
    """A logit score of min(x, c)·Wᵀ + b, with c a quantile of the features of the calibration sample.

    Unknown classes often excite a few features far beyond the usual; clipping takes that away. The prediction stays
    that of the classifier's own logits. (Sun et al., 2021)
    """

    quantile: float = 0.9
    score: LogitScore = ENERGY

    def _fit(self, calibration: Outputs, /) -> "FittedReAct":
        """Take the quantile and the head."""
        if not 0 < self.quantile <= 1:
            raise ValueError(f"`quantile` must be above 0 and at most 1, got {self.quantile}.")
        weight, bias = head_of(calibration)
        clip = float(np.quantile(features_of(calibration).astype(np.float64), self.quantile))
        return FittedReAct(clip, weight, bias, self.score)


@final
@dataclass(frozen=True, eq=False)
class FittedReAct(Fitted):
    """ReAct with its clip and the head."""

    clip: float
    weight: NDArray[np.float64]
    bias: NDArray[np.float64]
    score: LogitScore

    def expects(self) -> dict[str, int]:
        """What the calibration sample had."""
        return {"features": self.weight.shape[1], "classes": self.weight.shape[0]}

    def _score(self, outputs: Outputs, /) -> NDArray[np.float64]:
        """The score of the logits of the clipped features."""
        x = features_of(outputs)
        scale = 1 / row_norms(self.weight) if "head" in self.score.needs else None
        transposed = np.ascontiguousarray(self.weight.T)
        confidence = np.empty(len(x))
        for start in range(0, len(x), ROWS):
            clipped = np.minimum(x[start : start + ROWS].astype(np.float64), self.clip)
            rows = logit_rows(row_products(clipped, transposed) + self.bias, scale=scale)
            confidence[start : start + len(clipped)] = self.score.formula(rows)
        return confidence

    def portable(self, _: Any, features: Any, __: Any, /) -> Any:
        """The same on arrays of any library."""
        xp = array_namespace(features)
        clipped = xp.where(features > self.clip, self.clip, features)
        logits = clipped @ constant(self.weight, features).T + constant(self.bias, features)[None, :]
        return self.score.portable(logits, features, Head(self.weight))
