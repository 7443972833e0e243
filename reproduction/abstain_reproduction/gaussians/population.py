"""Risk–coverage curves of the whole population of the mixture, by quadrature in one dimension."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import simpson
from scipy.optimize import brentq

from abstain_reproduction.gaussians.doubt import Doubt
from abstain_reproduction.gaussians.mixture import MEAN, Mixture

Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
STEPS = np.square((1 + _NODES) / 2)  # of an interval, most of them near its beginning, where scores turn sharply
SHARES = _WEIGHTS * (1 + _NODES) / 2
TABLE = 1 << 17
HALF = 300  # intervals on either side of the bend; even, as Simpson's rule takes two at a time


@dataclass(frozen=True)
class PopulationCurve:
    """Risk and coverage of a population, from full coverage down to almost none."""

    coverage: Floats
    risk: Floats
    corner: Floats
    """The size t such that a sample with both coordinates of size t is just accepted."""

    @property
    def aurc(self) -> float:
        """The area under the curve, flat below the smallest coverage that was computed."""
        inside = -simpson(self.risk, x=self.coverage)
        return float(inside + self.coverage[-1] * self.risk[-1])

    def risk_at(self, coverage: Floats) -> Floats:
        """Risks at given coverages."""
        return np.interp(coverage, self.coverage[::-1], self.risk[::-1])


class Population:
    """All samples of a mixture, ranked by a score: a `Doubt`, or None for the margin.

    A score accepts the samples with ψ(|x₁|) + ψ(|x₂|) < 2ψ(t): where both sizes are above t, and where one is below
    it but the other large enough. The margin accepts the first alone.
    """

    def __init__(self, mixture: Mixture, doubt: Doubt | None) -> None:
        self.mixture, self.doubt = mixture, doubt
        if doubt is not None:
            # Squares, as many scores are flat at 0, where a table of their inverse must be fine.
            self._sizes = mixture.largest * np.square(np.linspace(0.0, 1.0, TABLE))
            self._doubts = doubt.of_size(self._sizes)

    def curve(self) -> PopulationCurve:
        """The risk–coverage curve."""
        corner = self._corners()
        accepted, wrong = self._accepted(corner)
        kept = accepted > 1e-9
        return PopulationCurve(accepted[kept], wrong[kept] / accepted[kept], corner[kept])

    def _corners(self) -> Floats:
        """Corners to compute a curve at, most of them around where it bends: where radii of zero end."""
        steps, largest = np.linspace(0.0, 1.0, HALF + 1), self.mixture.largest
        bend = MEAN
        if self.doubt is not None and np.isfinite(self.doubt.at_infinity):
            bend = float(self._size_of((self._doubts[0] + self.doubt.at_infinity) / 2))
        return np.concatenate([bend * (1 - np.square(1 - steps)), bend + (largest - bend) * np.square(steps[1:])])

    def corner_at(self, coverage: float) -> float:
        """The corner of the region that is accepted at a coverage."""

        def excess(corner: float) -> float:
            return float(self._accepted(np.array([corner]))[0][0]) - coverage

        return float(brentq(excess, 0.0, self.mixture.largest, xtol=1e-13))

    def confidence(self, x: Floats) -> Floats:
        """Confidence in samples (n, 2) that ranks as the score does."""
        sizes = abs(x)
        return sizes.min(axis=1) if self.doubt is None else -self.doubt.of_size(sizes).sum(axis=1)

    def threshold(self, coverage: float) -> float:
        """The confidence above which samples are accepted at a coverage."""
        corner = self.corner_at(coverage)
        return float(self.confidence(np.array([[corner, corner]]))[0])

    def smallest_radius(self, coverage: float) -> float:
        """The infimum of the distance to a decision boundary over all samples accepted at a coverage."""
        return float(self._smallest(np.array([self.corner_at(coverage)]))[0])

    def _smallest(self, corner: Floats) -> Floats:
        """The smallest size of a coordinate that is accepted beside one of any size."""
        if self.doubt is None:
            return corner
        bound = 2 * self.doubt.of_size(corner) - self.doubt.at_infinity
        return np.where(bound > self._doubts[0], 0.0, self._size_of(bound))

    def _size_of(self, doubt: Floats) -> Floats:
        """The size that has a doubt."""
        return np.interp(doubt, self._doubts[::-1], self._sizes[::-1])

    def _accepted(self, corner: Floats) -> tuple[Floats, Floats]:
        """Shares of the accepted, and of the accepted and wrong, for regions given by their corners."""
        right, wrong = self.mixture.right_beyond(corner), self.mixture.wrong_beyond(corner)
        both, errors = np.square(right + wrong), wrong * (2 * right + wrong)
        if self.doubt is None:
            return both, errors
        allowed = 2 * self.doubt.of_size(corner)
        end = self._size_of(allowed - self._doubts[0])  # beside a larger coordinate every other is accepted
        single, single_wrong = self._edge_shares(self.doubt, corner[:, None], allowed[:, None], end[:, None])
        right_end, wrong_end = self.mixture.right_beyond(end), self.mixture.wrong_beyond(end)
        any_right, any_wrong = (
            self.mixture.right_beyond(np.zeros(1)) - right,
            self.mixture.wrong_beyond(np.zeros(1)) - wrong,
        )
        single += (right_end + wrong_end) * (any_right + any_wrong)
        single_wrong += wrong_end * (any_right + any_wrong) + right_end * any_wrong
        return both + 2 * single, errors + 2 * single_wrong

    def _edge_shares(self, doubt: Doubt, corner: Floats, allowed: Floats, end: Floats) -> tuple[Floats, Floats]:
        """The accepted, and those that are wrong, with one coordinate from corner to end and the other below corner."""
        mixture, length = self.mixture, end - corner
        large = corner + length * STEPS
        small = np.minimum(self._size_of(allowed - doubt.of_size(large)), corner)
        right = mixture.right_beyond(small) - mixture.right_beyond(corner)
        wrong = mixture.wrong_beyond(small) - mixture.wrong_beyond(corner)
        large_right, large_wrong = mixture.right_density(large), mixture.wrong_density(large)
        accepted = length * (large_right + large_wrong) * (right + wrong)
        errors = length * (large_wrong * (right + wrong) + large_right * wrong)
        return accepted @ SHARES, errors @ SHARES
