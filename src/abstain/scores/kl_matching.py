"""KL-matching: how far the probabilities are from what is typical of a class."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.namespace import array_namespace
from abstain.scores.operations import constant, double, products
from abstain.scores.rows import Array
from abstain.scores.score import About, FittedScore, Score, Sizes

Floats = NDArray[np.float64]
SMALLEST = -745.0  # the log of the smallest number above zero


@final
@dataclass(frozen=True)
class KLMatching(Score):
    r"""Minus the divergence from the nearest class, :math:`-\min_k KL(p \,\|\, d_k)`.

    d_k is the mean of the probabilities of the fitting samples that are predicted as k; classes that none is predicted
    as are passed over. No labels are needed. (Hendrycks et al., 2022)
    """

    about = About(
        name="kl_matching",
        symbol="KL-Matching",
        family="softmax",
        for_ood=True,
        needs=("logits", "fitting"),
        reference="Hendrycks et al., 2022",
        summary="How far the probabilities are from what is typical of the nearest class.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedKLMatching":
        """Take the mean probabilities by predicted class."""
        logs, predicted = _log_probabilities(Inputs(sample.logits)), sample.predictions
        means = [np.logaddexp.reduce(logs[predicted == k], axis=0) for k in np.unique(predicted)]
        counts = np.unique(predicted, return_counts=True)[1]
        return FittedKLMatching(np.maximum(np.array(means) - np.log(counts)[:, None], SMALLEST))


@final
@dataclass(frozen=True, eq=False)
class FittedKLMatching(FittedScore):
    """KL-matching with the log of the mean probabilities (c, K)."""

    logs: Floats

    def expects(self) -> Sizes:
        """What the fitting sample had."""
        return {"classes": self.logs.shape[1]}

    def formula(self, inputs: Inputs, /) -> Array:
        """Minus the divergence from the class whose mean of log d_k is largest."""
        logs = _log_probabilities(inputs)
        xp = array_namespace(logs)
        probabilities = xp.exp(logs)
        nearest = xp.argmax(products(probabilities, np.ascontiguousarray(self.logs.T)), axis=1)
        means = xp.take(constant(self.logs, logs), nearest, axis=0)
        excess = xp.where(probabilities > 0, logs, means) - means
        return -xp.sum(_divergence(excess, probabilities, xp.exp(means)), axis=1)


def _divergence(excess: Array, p: Array, d: Array) -> Array:
    """P ln(p/d) − p + d for ``excess`` ln(p/d): never below 0, and 0 on the whole only where p is d.

    Their sum is the divergence, since p and d sum to 1 each, and has no terms that cancel.
    """
    xp = array_namespace(excess)
    near = xp.where(abs(excess) < 0.25, excess, 0.0)
    series = xp.zeros_like(near)
    for k in range(14, 1, -1):  # e^−x − 1 + x = x²/2! − x³/3! + …
        series = (1 - near * series) / k
    return xp.where(abs(excess) < 0.25, p * near * (near * series), d - p + p * excess)


def _log_probabilities(inputs: Inputs) -> Array:
    rows = inputs.sums()
    return double(inputs.logits) - (rows.top + rows.log_total)[:, None]
