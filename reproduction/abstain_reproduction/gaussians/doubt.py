"""Confidence scores of the four-class classifier, as doubts that add up over the two coordinates.

With logits λ·m(±x₁ ± x₂) the softmax is a product over the coordinates, so that −log SR_max, −log ‖σ‖² and the entropy
are sums of one function of |x₁| and of |x₂|; so are the largest logit, the free energy, −log of the true posterior, and
the limits for λ → 0. Only the margin, √2·min(|x₁|, |x₂|), the limit of all softmax scores for λ → ∞, is no sum.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain_reproduction.gaussians.mixture import MEAN, Mixture

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Doubt:
    """A score that ranks by ψ(|x₁|) + ψ(|x₂|), low = trusted, with ψ falling; ``at_infinity`` is where it falls to."""

    of_size: Callable[[Floats], Floats]
    at_infinity: float


def max_softmax(scale: float, /) -> Doubt:
    """−log SR_max: the softmax of the prediction is a product of two sigmoids."""
    return Doubt(lambda t: np.logaddexp(0.0, -2 * MEAN * scale * t), 0.0)


def doctor(scale: float, /) -> Doubt:
    """−log ‖σ‖², which SR_doctor falls with."""

    def of_size(t: Floats) -> Floats:
        p, q = (expit(sign * 2 * MEAN * scale * t) for sign in (1, -1))
        return -np.log1p(-2 * p * q)

    return Doubt(of_size, 0.0)


def neg_entropy(scale: float, /) -> Doubt:
    """The entropy −SR_ent."""

    def of_size(t: Floats) -> Floats:
        u = 2 * MEAN * scale * t
        return np.logaddexp(0.0, -u) + u * expit(-u)

    return Doubt(of_size, 0.0)


def energy(scale: float, /) -> Doubt:
    """Minus the free energy log Σ exp(λz)."""
    return Doubt(lambda t: -np.logaddexp(MEAN * scale * t, -MEAN * scale * t), -np.inf)


def max_logit() -> Doubt:
    """Minus the largest logit, m(|x₁| + |x₂|), at any scale; also the limit of SR_max for λ → 0."""
    return Doubt(lambda t: -MEAN * t, -np.inf)


def small_scale_variance() -> Doubt:
    """Minus the variance of the logits, the limit of SR_doctor and SR_ent for λ → 0."""
    return Doubt(lambda t: -np.square(t), -np.inf)


def posterior(mixture: Mixture, /) -> Doubt:
    """−log of the true probability that the prediction is right: no score does better at any coverage."""

    def of_size(t: Floats) -> Floats:
        right, wrong = mixture.right_density(t), mixture.wrong_density(t)
        return np.log1p(np.divide(wrong, right, out=np.zeros_like(right), where=right > 0))

    return Doubt(of_size, 0.0)


SOFTMAX: dict[str, Callable[[float], Doubt]] = {
    "max_softmax": max_softmax,
    "doctor": doctor,
    "neg_entropy": neg_entropy,
}
AT_ZERO: dict[str, Doubt] = {
    "max_softmax": max_logit(),
    "doctor": small_scale_variance(),
    "neg_entropy": small_scale_variance(),
}
"""What the softmax scores rank as for λ → 0."""
