"""What the three cases say to the claims of §3.3 and App. D."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from abstain.scores import SCORES
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.gaussians import doubt
from abstain_reproduction.gaussians.cases import COMPARED, COVERAGE, SOFTMAX, ToyCase
from abstain_reproduction.gaussians.mixture import POSTERIOR_SCALE, Mixture
from abstain_reproduction.gaussians.population import Population
from abstain_reproduction.share_interval import ShareInterval

Floats = NDArray[np.float64]
COVERAGES = np.linspace(0.001, 0.999, 999)
OURS = "geometric_margin"


def superior(case: ToyCase, claim: str, rivals: tuple[str, ...], /) -> ClaimVerdict:
    """Whether the margin has a lower AURC than each of its rivals, and at which coverages the lowest risk."""
    held = all(case.curves[name].aurc > case.curves[OURS].aurc for name in rivals)
    ahead = COVERAGES[_ours(case) < _lowest(case, rivals)]
    scale = POSTERIOR_SCALE if not case.spread else 4.0
    other = Population(case.mixture, doubt.max_softmax(scale)).curve().aurc
    evidence = (
        f"AURC × 100: {_areas(case)}; its risk is the lowest at {len(ahead) / len(COVERAGES):.1%} of "
        f"all coverages, up to {ahead.max(initial=0):.3f}. This is so at λ = 1: SR_max at λ = {scale:.3g} "
        f"has {100 * other:.4f}, and no score can have less than {100 * case.best.aurc:.4f}"
    )
    return ClaimVerdict.of(claim, held, evidence, _data(case))


def no_longer_superior(case: ToyCase, /) -> ClaimVerdict:
    """Whether another score's curve is lower at high coverages, and from where on."""
    lowest = _lowest(case, tuple(name for name in COMPARED if name != OURS))
    behind = _ours(case) > lowest
    held = bool(behind[COVERAGES >= 0.9].all())
    first = COVERAGES[~behind].max() if (~behind).any() else 0.0
    last = max(case.curves, key=lambda name: case.curves[name].aurc)
    evidence = (
        f"AURC × 100: {_areas(case)}, {SCORES[last].symbol} the worst; another score than the margin has the lower "
        f"risk from coverage {first:.2f} up"
    )
    return ClaimVerdict.of("toy-case-3", held, evidence, _data(case))


def zero_radii(case: ToyCase, /) -> ClaimVerdict:
    """The infimum of the robustness radii of all that is selected, and the scale from which on it is not zero."""
    smallest = {name: population.smallest_radius(COVERAGE) for name, population in case.populations.items()}
    held = smallest[OURS] > 0 and not any(radius for name, radius in smallest.items() if name != OURS)
    radii = ", ".join(f"{SCORES[name].symbol} {radius:.4f}" for name, radius in smallest.items())
    turns = ", ".join(f"{SCORES[name].symbol} λ = {scale_without_zero(name, case.mixture):.2f}" for name in SOFTMAX)
    evidence = (
        f"smallest radius among the selected of the whole population: {radii}. For the softmax scores that is a matter "
        f"of scale: it is above 0 from {turns} on, and goes to the margin's; only RL_max keeps 0 at all scales"
    )
    return ClaimVerdict.of("toy-radii", held, evidence, _data(case))


def errors_near_boundary(case: ToyCase, unshifted: ToyCase, /) -> ClaimVerdict:
    """Whether most errors are nearer to a boundary than the nearest fifth of the unperturbed samples."""
    radii = abs(np.asarray(unshifted.sample.features)).min(axis=1)
    wrong = case.sample.errors > 0
    near = abs(np.asarray(case.sample.features)).min(axis=1)[wrong] <= np.quantile(radii, 1 - COVERAGE)
    share = ShareInterval.of(near, None)
    evidence = f"of {wrong.sum():,} errors {share:.1%} are nearer to a boundary than the nearest fifth before the shift"
    data = f"case {case.number} ({case.name}), {len(wrong):,} samples"
    return ClaimVerdict.of("errors-near-boundary", share.is_most, evidence, data)


def scale_without_zero(name: str, mixture: Mixture, /) -> float:
    """The scale from which on a softmax score selects no sample on a boundary at a coverage of 0.8."""

    def excess(log_scale: float) -> float:
        """How far the threshold is from the doubt of a sample on one boundary and infinitely far from the other."""
        score = doubt.SOFTMAX[name](float(np.exp(log_scale)))
        corner = np.array([Population(mixture, score).corner_at(COVERAGE)])
        return float(2 * score.of_size(corner)[0] - score.of_size(np.zeros(1))[0])

    return float(np.exp(brentq(excess, np.log(0.2), np.log(20.0), xtol=1e-6)))


def rejected_alike(case: ToyCase, /) -> ClaimVerdict:
    """Whether every other score rejects more of what SR_max rejects than of what the margin rejects."""
    x = np.asarray(case.sample.features)
    rejected = {name: case.populations[name].confidence(x) <= case.thresholds[name] for name in COMPARED}
    usual, ours = rejected["max_softmax"], rejected[OURS]
    others = [name for name in COMPARED if name not in ("max_softmax", OURS)]
    shared = {name: tuple(float(rejected[name][these].mean()) for these in (usual, ours)) for name in others}
    words = "; ".join(f"{SCORES[name].symbol} {alike:.1%} and {other:.1%}" for name, (alike, other) in shared.items())
    error = np.sqrt(0.25 / min(usual.sum(), ours.sum()))
    evidence = (
        f"rejected of what SR_max rejects at coverage 0.8, and of what the geometric margin rejects: {words} (each ± "
        f"{error:.1%} at most); SR_max itself rejects {usual[ours].mean():.1%} of the latter"
    )
    held = all(alike > other for alike, other in shared.values())
    return ClaimVerdict.of("toy-others-like-sr-max", held, evidence, f"case {case.number}, {len(x):,} samples")


def rejected_where(case: ToyCase, /) -> ClaimVerdict:
    """Of the fifth nearest to a boundary, and of the fifth nearest to the origin, how much each score rejects."""
    x = np.asarray(case.sample.features)
    distances = {"boundary": abs(x).min(axis=1), "origin": np.hypot(*x.T)}
    nearest = {location: far <= np.quantile(far, 1 - COVERAGE) for location, far in distances.items()}
    shares = {}
    for name in (OURS, *SOFTMAX):
        rejected = case.populations[name].confidence(x) <= case.thresholds[name]
        shares[name] = {location: float(rejected[near].mean()) for location, near in nearest.items()}
    held = all(
        shares[OURS]["boundary"] > shares[name]["boundary"] and shares[name]["origin"] > shares[OURS]["origin"]
        for name in SOFTMAX
    )
    words = "; ".join(
        f"{SCORES[name].symbol} {by_location['boundary']:.1%} and {by_location['origin']:.1%}"
        for name, by_location in shares.items()
    )
    error = np.sqrt(0.25 / nearest["origin"].sum())
    evidence = (
        f"rejected of the fifth nearest to a boundary, and of the fifth nearest to the origin: {words} "
        f"(each ± {error:.1%} at most)"
    )
    return ClaimVerdict.of("toy-rejects-boundary", held, evidence, f"case {case.number}, {len(x):,} samples")


def largest_logit(case: ToyCase, /) -> ClaimVerdict:
    """Whether the largest logit is worse than every other score."""
    areas = {name: curve.aurc for name, curve in case.curves.items()}
    better = [SCORES[name].symbol for name, area in areas.items() if area > areas["max_logit"]]
    evidence = (
        f"AURC × 100: {_areas(case)}, of all samples {100 * case.best.risk[0]:.2f} wrong. It is the limit of SR_max "
        f"for λ → 0, and ranks better than {' and '.join(better) or 'no other score'}"
    )
    return ClaimVerdict.of("rl-max-toy", not better, evidence, _data(case))


def _ours(case: ToyCase) -> Floats:
    return case.curves[OURS].risk_at(COVERAGES)


def _lowest(case: ToyCase, names: tuple[str, ...]) -> Floats:
    return np.asarray(np.min([case.curves[name].risk_at(COVERAGES) for name in names], axis=0))


def _areas(case: ToyCase) -> str:
    return ", ".join(f"{SCORES[name].symbol} {100 * curve.aurc:.3f}" for name, curve in case.curves.items())


def _data(case: ToyCase) -> str:
    return f"case {case.number} ({case.name}), the whole population by quadrature"
