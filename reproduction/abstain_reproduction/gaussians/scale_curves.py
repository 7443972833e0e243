"""Curves of the mixture over the scale of the logits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from abstain._cached_property import cached_property
from abstain.evaluation.sensitivity import ScaleSensitivity
from abstain_reproduction.gaussians.doubt import AT_ZERO, SOFTMAX, posterior
from abstain_reproduction.gaussians.mixture import Mixture
from abstain_reproduction.gaussians.population import Population, PopulationCurve

SCALES = (0.1, 1.0, 2.0, 4.0)  # the paper's
COVERAGES = np.linspace(0.001, 1.0, 1000)


@dataclass(frozen=True)
class ScaleCurves:
    """The curves of a population over the scale of the logits."""

    mixture: Mixture

    @cached_property
    def margin(self) -> PopulationCurve:
        """Of the margin, the limit for λ → ∞."""
        return Population(self.mixture, None).curve()

    @cached_property
    def posterior(self) -> PopulationCurve:
        """Of the true posterior: no curve is lower."""
        return Population(self.mixture, posterior(self.mixture)).curve()

    @cached_property
    def at_scales(self) -> dict[str, dict[float, PopulationCurve]]:
        """By score and scale."""
        return {name: {scale: self.curve(name, scale) for scale in SCALES} for name in SOFTMAX}

    def curve(self, name: str, scale: float) -> PopulationCurve:
        """Of a softmax score at a scale."""
        return Population(self.mixture, SOFTMAX[name](scale)).curve()

    def area(self, name: str, scale: float) -> float:
        """AURC of a softmax score at a scale."""
        return self.curve(name, scale).aurc

    def distance_to_margin(self, name: str, scale: float) -> float:
        """The largest difference in risk to the margin over all coverages."""
        return float(abs(self.curve(name, scale).risk_at(COVERAGES) - self.margin.risk_at(COVERAGES)).max())

    def best_scale(self, name: str) -> float:
        """The scale of the lowest AURC between 1/20 and 64."""
        ends = (np.log(0.05), np.log(64.0))
        optimum = minimize_scalar(lambda s: self.area(name, np.exp(s)), bounds=ends, options={"xatol": 1e-3})
        return float(np.exp(optimum.x))

    def sensitivity(self) -> ScaleSensitivity:
        """AURC over the scale, with its exact limits, in the form of the diagnostic."""
        rows: list[dict[str, Any]] = []
        for name in SOFTMAX:
            areas = {0.0: Population(self.mixture, AT_ZERO[name]).curve().aurc}
            areas |= {float(s): self.area(name, s) for s in np.logspace(-1.5, 1.75, 40)}
            rows += [{"score": name, "scale": s, "aurc": a} for s, a in (areas | {np.inf: self.margin.aurc}).items()]
        return ScaleSensitivity(rows, 1.0, 0)
