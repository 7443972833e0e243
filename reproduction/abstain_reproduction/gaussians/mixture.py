"""Four Gaussians at the corners of a square, the classifier that is optimal for them, and perturbations of samples.

Given the class, the two coordinates are independent, and by symmetry only their sizes matter: the classifier is right
iff both signs are, and a coordinate of size t has the right sign with odds g(t − m) : g(t + m), with m the mean and g
the density of what is added to it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from abstain.outputs import Outputs
from abstain_reproduction.draws import generator

Floats = NDArray[np.float64]
MEAN = float(np.sqrt(0.5))
VARIANCE = 0.15
DEVIATION = float(np.sqrt(VARIANCE))
CORNERS = MEAN * np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
"""The means of the classes, and the weights of the classifier: its logits are ``x @ CORNERS.T``."""
POSTERIOR_SCALE = 1 / VARIANCE
"""The scale of the logits at which their softmax is the posterior of the mixture without perturbation."""


@dataclass(frozen=True)
class Mixture:
    """The mixture, every coordinate perturbed uniformly within ±``spread``."""

    spread: float = 0.0

    @property
    def largest(self) -> float:
        """A size that no coordinate exceeds in the precision of a float."""
        return MEAN + self.spread + 9 * DEVIATION

    def right_density(self, size: Floats) -> Floats:
        """Density of the size of a coordinate where its sign is the right one."""
        return self._density(size - MEAN)

    def wrong_density(self, size: Floats) -> Floats:
        """Density of the size of a coordinate where its sign is the wrong one."""
        return self._density(size + MEAN)

    def right_beyond(self, size: Floats) -> Floats:
        """P(a coordinate is larger than ``size``, and its sign is right)."""
        return self._beyond(size - MEAN)

    def wrong_beyond(self, size: Floats) -> Floats:
        """P(a coordinate is larger than ``size``, and its sign is wrong)."""
        return self._beyond(size + MEAN)

    def _density(self, x: Floats) -> Floats:
        """Of a Gaussian and a uniform variable together."""
        if not self.spread:
            return _normal(x / DEVIATION) / DEVIATION
        inner, outer = (-abs(x) - self.spread) / DEVIATION, (-abs(x) + self.spread) / DEVIATION
        return (ndtr(outer) - ndtr(inner)) / (2 * self.spread)

    def _beyond(self, x: Floats) -> Floats:
        """P(a Gaussian and a uniform variable together exceed x)."""
        if not self.spread:
            return ndtr(-x / DEVIATION)
        near, far = (_loss(x + d) for d in (-self.spread, self.spread))
        return (near - far) / (2 * self.spread)

    def draw(self, n: int, /, *, seed: int = 0) -> Outputs:
        """The classifier's outputs on n samples of the mixture; features are the samples."""
        rng = generator("four Gaussians", seed)
        labels = rng.integers(4, size=n)
        x = CORNERS[labels] + rng.normal(scale=DEVIATION, size=(n, 2))
        x += rng.uniform(-self.spread, self.spread, size=x.shape) if self.spread else 0.0
        return Outputs(logits=x @ CORNERS.T, labels=labels, features=x, weight=CORNERS, bias=np.zeros(4))


def _normal(z: Floats) -> Floats:
    return np.exp(-np.square(z) / 2) / np.sqrt(2 * np.pi)


def _loss(x: Floats) -> Floats:
    """E max(Gaussian − x, 0), the integral of its upper tail."""
    z = x / DEVIATION
    return DEVIATION * (_normal(z) - z * ndtr(-z))
