"""The three cases of §3.3, each with the scores compared there."""

from dataclasses import dataclass

from abstain._cached_property import cached_property
from abstain.outputs import Outputs
from abstain_reproduction.gaussians.doubt import (
    Doubt,
    doctor,
    max_logit,
    max_softmax,
    neg_entropy,
    posterior,
)
from abstain_reproduction.gaussians.mixture import Mixture
from abstain_reproduction.gaussians.population import Population, PopulationCurve

COVERAGE = 0.8
SAMPLE = 200_000
COMPARED: dict[str, Doubt | None] = {
    "geometric_margin": None,
    "max_softmax": max_softmax(1.0),
    "doctor": doctor(1.0),
    "neg_entropy": neg_entropy(1.0),
    "max_logit": max_logit(),
}
"""The scores of the paper's figures, the softmax of the logits as they are; ‖w‖ = 1, so both margins are one score."""
SOFTMAX = ("max_softmax", "doctor", "neg_entropy")


@dataclass(frozen=True)
class ToyCase:
    """One case: the mixture with its samples perturbed."""

    number: int
    spread: float
    seed: int = 0

    @property
    def mixture(self) -> Mixture:
        """The perturbed mixture."""
        return Mixture(self.spread)

    @cached_property
    def populations(self) -> dict[str, Population]:
        """The population ranked by each score."""
        return {name: Population(self.mixture, doubt) for name, doubt in COMPARED.items()}

    @cached_property
    def curves(self) -> dict[str, PopulationCurve]:
        """The risk–coverage curve of each score."""
        return {name: population.curve() for name, population in self.populations.items()}

    @cached_property
    def best(self) -> PopulationCurve:
        """The curve of the true posterior: no score is better at any coverage."""
        return Population(self.mixture, posterior(self.mixture)).curve()

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """The confidence above which each score accepts, at a coverage of 0.8."""
        return {name: population.threshold(COVERAGE) for name, population in self.populations.items()}

    @cached_property
    def sample(self) -> Outputs:
        """A sample, for what is shown or counted."""
        return self.mixture.draw(SAMPLE, seed=self.seed)

    @property
    def name(self) -> str:
        """What was done to the samples."""
        return f"±{self.spread:g}" if self.spread else "no perturbation"


def cases(seed: int = 0, /) -> list[ToyCase]:
    """The three cases."""
    return [ToyCase(number, spread, seed) for number, spread in ((1, 0.0), (2, 0.5), (3, 2.0))]
