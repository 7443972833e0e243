"""Plan from a small labelled sample: what coverage so many rows will certify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from abstain._arrays import Floats
from abstain._draws import coarse, generator
from abstain._errors import InvalidInputError
from abstain.thresholds.sample import Sample, check_target, population_of
from abstain.thresholds.step_down import SafeRanks, check_delta

SIZES = (100, 200, 500, 1000, 2000, 5000, 10_000)
DRAWS = 100  # curves that fit the pilot, each with a sample of its own
SLOPE, SPREAD = 1.5, 1.0  # of the log-odds of an error over the log of the rank: mean and deviation before any row
PRIOR = 0.5  # errors, and as many right rows, at the middle rank: so that no errors do not mean none ever
QUANTILES = (0.1, 0.5, 0.9)


@final
@dataclass(frozen=True)
class PilotRow:
    """What calibration on n rows is expected to give.

    Attributes
    ----------
    n : int
        Rows to calibrate on.
    low : float
        The coverage certified, or more, in nine cases of ten.
    middle : float
        The coverage certified in half of the cases.
    high : float
        The coverage certified in one case of ten.
    nothing : float
        The share of cases in which nothing is certified.
    """

    n: int
    low: float
    middle: float
    high: float
    nothing: float


def plan_from_pilot(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    sizes: tuple[int, ...] = SIZES,
    seed: int = 0,
) -> list[PilotRow]:
    """The coverage that `step_down` is expected to certify on samples of several sizes, from a small labelled sample.

    An estimate, no guarantee. The log-odds of an error are modelled as linear in the logarithm of the rank, which
    misses errors of high confidence. Curves that fit the pilot (a normal approximation of the posterior) each give
    a sample, on which the rule is run: so the ranges include both what the pilot leaves open and the chance of the
    sample. Calibrate on other rows, or on all of them only if the target was fixed before the pilot.

    Parameters
    ----------
    confidence : (m,) array
        Confidence of the rows of the pilot.
    losses : (m,) array
        Their errors, some ten or more.
    risk, delta : float
        The target of the calibration to come.
    sizes : tuple of int
        Numbers of labelled rows to judge.
    seed : int
        Of the draws, which also depend on the pilot.

    Returns
    -------
    list of PilotRow
        One per size.

    Raises
    ------
    InvalidInputError
        If an argument is out of its range, a confidence is NaN, or lengths differ.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> u = rng.random(200)
    >>> rows = plan_from_pilot(1 - u, rng.random(200) < 0.3 * u**2, risk=0.05, sizes=(100, 2000))
    >>> rows[0].middle < rows[1].middle
    True
    """
    check_target("risk", risk)
    check_delta(delta)
    if not sizes or min(sizes) < 1:
        raise InvalidInputError(f"`sizes` must be numbers of rows of at least 1, got {sizes}.")
    pilot = Sample.of(confidence, losses)
    rng = generator("plan from a pilot", seed, coarse(pilot.confidence), pilot.losses)
    curves = _curves(pilot, rng)
    return [_judged(n, curves, risk, delta, rng) for n in sizes]


def _curves(pilot: Sample, rng: np.random.Generator) -> Floats:
    """(DRAWS, 2) intercepts and slopes that fit the pilot, by a Laplace approximation."""
    ranks = (np.arange(len(pilot)) + 0.5) / len(pilot)
    x = np.column_stack([np.ones(len(pilot) + 1), np.append(np.log(ranks), np.log(0.5))])
    y, weights = np.append(pilot.losses, 0.5), np.append(np.ones(len(pilot)), 2 * PRIOR)
    at, prior = np.array([logit(np.average(y, weights=weights)), SLOPE]), np.diag([0.0, SPREAD**-2])
    for _ in range(50):
        p = expit(x @ at)
        gradient = x.T @ (weights * (y - p)) - prior @ (at - [0.0, SLOPE])
        curvature = (x.T * (weights * p * (1 - p))) @ x + prior
        step = np.linalg.solve(curvature, gradient)
        at = at + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    return rng.multivariate_normal(at, np.linalg.inv(curvature), size=DRAWS)


def _judged(n: int, curves: Floats, risk: float, delta: float, rng: np.random.Generator) -> PilotRow:
    coverages, population = np.empty(len(curves)), population_of(n, None)
    for number, (intercept, slope) in enumerate(curves):
        u = np.sort(rng.random(n))
        errors = (rng.random(n) < expit(intercept + slope * np.log(u))).astype(np.float64)
        coverages[number] = SafeRanks.of(Sample(1 - u, errors, True, population), risk, delta).largest / n
    low, middle, high = (float(each) for each in np.quantile(coverages, QUANTILES, method="inverted_cdf"))
    return PilotRow(n, low, middle, high, float(np.mean(coverages == 0)))
