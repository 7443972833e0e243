"""SIRC: softmax confidence pulled down where a second score looks unfamiliar."""

from dataclasses import dataclass
from typing import final

import numpy as np

from abstain._arrays import Floats
from abstain.outputs import Outputs
from abstain.scores.held_out import unfitted_confidence
from abstain.scores.inputs import Inputs
from abstain.scores.logit_scores import MaxSoftmax, max_softmax
from abstain.scores.operations import Array, at_most, minus_exp, softplus
from abstain.scores.residual import Residual
from abstain.scores.rows import CERTAIN
from abstain.scores.score import About, CannotFitError, Family, FittedScore, Score


@final
@dataclass(frozen=True)
class SIRC(Score):
    r"""Softmax Information Retaining Combination, :math:`-\log(1 - p_{\max}) - \sum_i \log(1 + e^{-b_i(s_i - a_i)})`.

    It ranks as :math:`-(1 - p_{\max})(1 + e^{-b(s - a)})`: softmax decides among familiar samples, and the secondary
    scores s pull down those more than three standard deviations below the mean: a = mean − 3·sd, b = 1/sd, of the
    fitting sample, each row scored by a fit on others.

    Parameters
    ----------
    secondaries : tuple of Score
        The scores s.

    References
    ----------
    Xia & Bouganis, 2022
    """

    secondaries: tuple[Score, ...] = (Residual(),)

    about = About(
        name="sirc",
        symbol="SIRC",
        family="hybrid",
        needs=("logits", "features", "head", "fitting"),
        reference="Xia & Bouganis, 2022",
        summary="Softmax confidence, pulled down where a second score looks unfamiliar.",
    )

    def literal(self, confidence: Array, /) -> Array:
        """−e^−c."""
        return minus_exp(confidence)

    def _fit(self, sample: Outputs, /) -> "FittedSIRC":
        """Fit the secondary scores and take their mean and spread."""
        fitted = tuple(secondary.fit(sample) for secondary in self.secondaries)
        values = [unfitted_confidence(secondary, sample) for secondary in self.secondaries]
        spread = np.array([np.std(value) for value in values])
        mean = np.array([np.mean(value) for value in values])
        if (spread <= 1e-12 * (1 + np.abs(mean))).any():
            raise CannotFitError("a secondary score is constant on the fitting sample")
        usual = at_most(max_softmax(sample.logits), CERTAIN)
        return FittedSIRC(fitted, mean - 3 * spread, 1 / spread, float(softplus(usual).mean()))


@final
@dataclass(frozen=True, eq=False)
class FittedSIRC(FittedScore):
    """SIRC with its secondary scores and their constants a and b."""

    secondaries: tuple[FittedScore, ...]
    a: Floats
    b: Floats
    usual: float
    """The mean of −log(1 − p_max) on the fitting sample."""

    def formula(self, inputs: Inputs, /) -> Array:
        """softplus(log-odds of p_max) − Σ softplus(−b(s − a)): in the log domain, which never overflows."""
        confidence = _primary(inputs)
        for part in self._taken(inputs):
            confidence = confidence - part
        return confidence

    def shortfalls(self, inputs: Inputs, /) -> dict[Family, Array]:
        """What softmax lacks to its mean, and what the secondary scores take off, beyond what their own means do."""
        usually_taken = len(self.b) * float(np.log1p(np.exp(-3)))
        return {"softmax": self.usual - _primary(inputs), "feature": sum(self._taken(inputs)) - usually_taken}

    def _taken(self, inputs: Inputs) -> list[Array]:
        """What each secondary score takes off (n,)."""
        return [
            softplus(-b * (inputs.confidence(secondary) - a))
            for secondary, a, b in zip(self.secondaries, self.a.tolist(), self.b.tolist(), strict=True)
        ]


def _primary(inputs: Inputs) -> Array:
    """−log(1 − p_max)."""
    return softplus(MaxSoftmax().formula(inputs))
