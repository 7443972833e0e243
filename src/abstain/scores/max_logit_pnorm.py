"""MaxLogit-pNorm: the largest centred logit over the norm of all."""

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np

from abstain._arguments import check_at_least
from abstain._arrays import Floats
from abstain._kernels.logit_geometry import centred_sums
from abstain.metrics import aurc
from abstain.metrics.aurc import lowest
from abstain.outputs import Outputs
from abstain.scores.inputs import Inputs
from abstain.scores.logit_formulas import of_logits
from abstain.scores.logit_scores import MaxSoftmax, max_softmax
from abstain.scores.operations import Array, array_namespace
from abstain.scores.rows import at_least_float32
from abstain.scores.score import About, FittedScore, Score

NORMS = tuple(float(p) for p in range(10))


def max_logit_pnorm(logits: Array, /, *, p: float) -> Array:
    r"""Largest centred logit over the p-norm, :math:`\max c / \|c\|_p` with c = z − mean z.

    Free of the scale of the logits, which repairs over-confident networks.

    Parameters
    ----------
    logits : array (n, K)
        Of NumPy, torch, JAX or CuPy.
    p : float
        At least 0; 0 leaves the norm out.

    Returns
    -------
    array (n,)
        Confidence, higher = more trusted, an array of the same library.

    Examples
    --------
    >>> max_logit_pnorm(np.array([[2.0, 1.0, 0.1, -1.0]]), p=2).round(6)
    array([0.665828])

    References
    ----------
    Cattelan & Silva, 2024
    """
    check_at_least("p", p, 0)
    return of_logits({"pnorm": lambda inputs: _pnorm(inputs.logits, p)}, logits)["pnorm"]


def _pnorm(logits: Array, p: float) -> Array:
    whole = 0 if p in (0, inf) else p
    exact = isinstance(logits, np.ndarray) and whole == int(whole) and whole <= 16
    top, size, total = centred_sums(logits, int(whole)) if exact else _centred_sums(logits, whole)
    if p == 0:
        return top
    xp = array_namespace(top)
    size = xp.where(size == 0, 1.0, size)  # equal logits have a score of 0
    return top / size if p == inf else top / (size * xp.where(total == 0, 1.0, total) ** (1 / p))


def _centred_sums(logits: Array, power: float) -> tuple[Array, Array, Array]:
    """The sums of the kernel for any power, on arrays of any library."""
    xp = array_namespace(logits)
    logits = at_least_float32(logits)
    known = ~(logits == -xp.inf)
    count = xp.sum(xp.astype(known, logits.dtype), axis=1, keepdims=True)
    centred = xp.where(known, logits - xp.sum(xp.where(known, logits, 0.0), axis=1, keepdims=True) / count, 0.0)
    top = xp.max(centred, axis=1) + 0.0 * (count[:, 0] / count[:, 0])  # a row of −inf alone becomes NaN
    if power == 1:  # Σ|c| is twice the sum of those above 0, so that rows with one of these tie exactly
        part = xp.where(centred > 0, centred, 0.0) / xp.where(top > 0, top, 1.0)[:, None]
        return top, top, 2 * xp.sum(part, axis=1)
    size = xp.abs(centred)
    largest = xp.max(size, axis=1)
    part = size / xp.where(largest == 0, 1.0, largest)[:, None]
    return top, largest, xp.sum(part**power, axis=1) if power else xp.ones_like(top)


@final
@dataclass(frozen=True)
class MaxLogitPNorm(Score):
    """MaxLogit-pNorm with the p of lowest AURC on the fitting sample, or max softmax where that is no worse.

    Parameters
    ----------
    norms : tuple of float
        Values of p to choose from.

    References
    ----------
    Cattelan & Silva, 2024
    """

    norms: tuple[float, ...] = NORMS

    about = About(
        name="max_logit_pnorm",
        symbol="MaxLogit-pNorm",
        family="logit",
        needs=("logits", "fitting", "labels"),
        reference="Cattelan & Silva, 2024",
        summary="The largest centred logit over a norm of all, which repairs over-confident networks.",
    )

    def _fit(self, sample: Outputs, /) -> "FittedMaxLogitPNorm":
        """Choose p."""
        areas = [aurc(max_softmax(sample.logits), sample.errors)]
        for p in self.norms:
            scores = max_logit_pnorm(sample.logits, p=p)
            varies = scores.std() > 1e-9 * np.abs(scores).max()  # not with two classes
            areas.append(aurc(scores, sample.errors) if varies else inf)
        return FittedMaxLogitPNorm((-1.0, *map(float, self.norms))[lowest(areas)])


@final
@dataclass(frozen=True, eq=False)
class FittedMaxLogitPNorm(FittedScore):
    """MaxLogit-pNorm with its p; below zero it is max softmax."""

    p: float

    def formula(self, inputs: Inputs, /) -> Array:
        """The score with the p chosen."""
        if self.p < 0:
            return MaxSoftmax().formula(inputs)
        return _pnorm(inputs.logits, self.p)

    def note(self, _: Floats, /) -> str | None:
        """Whether it is max softmax."""
        if self.p >= 0:
            return None
        return "No p-norm beat max_softmax on the fitting sample, so max_logit_pnorm is max_softmax here."
