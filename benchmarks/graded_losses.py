"""Losses between 0 and 1: coverage certified by several rules, and guarantees on hard distributions.

The mean loss at each place is the error rate of `guarantees`, scaled with the target. Losses of several kinds have
that mean: errors halved at random, uniform ones, and losses that are exactly their mean. `bets` and `coins` are the two
parts of `step_down`, each used throughout; Hoeffding–Bentkus is a fixed sequence of p-values along the same ranks.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from guarantees import DELTA, DISTRIBUTIONS, RISK, noise
from scipy.special import bdtr, rel_entr

from abstain.thresholds import NoSafeThresholdError, betting, empirical_without_guarantee, step_down
from abstain.thresholds.graded_losses import Bets, tossed
from abstain.thresholds.sample import Sample
from abstain.thresholds.segments import segments
from abstain.thresholds.step_down import SafeRanks

RUNS, SLOW, SLOWEST, HARD, HARD_SLOW = 100, 20, 5, 500, 200
SIZES = ((300, 0.05), (1000, 0.05), (2000, 0.02), (2000, 0.05), (2000, 0.1), (10_000, 0.05), (20_001, 0.05))
HARD_SIZES = (300, 600, 2000, 40_000)
NAMES = [name for name in DISTRIBUTIONS if name[0] in "ABm"]
Draw = Callable[[Any, Any], Any]
KINDS: dict[str, Draw] = {
    "0, ½, 1": lambda rng, mean: np.where(
        rng.random(len(mean)) < np.minimum(mean / 0.75, 1), rng.choice([0.5, 1.0], len(mean)), 0.0
    ),
    "uniform": lambda rng, mean: np.where(rng.random(len(mean)) < np.minimum(2 * mean, 1), rng.random(len(mean)), 0.0),
    "the mean": lambda _, mean: mean,
}


def _bets(c: Any, losses: Any, risk: float) -> float:
    return _along_ranks(Sample.of(c, losses), risk, lambda sample: Bets.of(sample).in_turn)


def _hoeffding_bentkus(c: Any, losses: Any, risk: float) -> float:
    def tests(sample: Sample) -> Callable[..., int]:
        ranks = np.arange(1, len(sample) + 1)
        low = np.minimum(sample.totals / ranks, risk)
        hoeffding = np.exp(-ranks * (rel_entr(low, risk) + rel_entr(1 - low, 1 - risk)))
        p = np.minimum(hoeffding, np.e * bdtr(np.minimum(np.ceil(sample.totals - 1e-9), ranks), ranks, risk))

        def in_turn(first: int, last: int, _: float, levels: tuple[float, ...]) -> int:
            failed = np.flatnonzero(p[first - 1 : last] > levels[0])
            return int(first - 1 + failed[0]) if failed.size else last

        return in_turn

    return _along_ranks(Sample.of(c, losses), risk, tests)


def _along_ranks(sample: Sample, risk: float, tests: Callable[[Sample], Callable[..., int]]) -> float:
    """The coverage certified by tests of one rank after the other in the segments of `step_down`."""
    parts, in_turn = segments(len(sample), risk, DELTA), tests(sample)
    best, inherited = 0, 0
    for number, part in enumerate(parts):
        levels = tuple(DELTA * sum(each.share for each in parts[begin : number + 1]) for begin in range(number, -1, -1))
        last = in_turn(part.first, part.last, risk, levels[inherited:])
        best = last if last >= part.first else best
        inherited = inherited + 1 if last == part.last else 0
    return best / len(sample)


def _coins(c: Any, losses: Any, risk: float) -> float:
    safe = SafeRanks.of(tossed(Sample.of(c, losses)), risk, DELTA).ranks
    return float(safe[-1] / len(c)) if len(safe) else 0.0


def _threshold(rule: Callable[..., Any]) -> Callable[[Any, Any, float], float]:
    def coverage(c: Any, losses: Any, risk: float) -> float:
        try:
            return float(np.mean(c > rule(c, losses, risk=risk, delta=DELTA).value))
        except NoSafeThresholdError:
            return 0.0

    return coverage


RULES = {
    "step_down": _threshold(step_down),
    "bets": _bets,
    "coins": _coins,
    "betting": _threshold(betting),
    "Hoeffding-Bentkus": _hoeffding_bentkus,
}


def graded_losses() -> bool:
    """Mean coverage of each rule, then breaks on hard distributions; whether the default is ahead of other rules."""
    means: dict[str, list[float]] = {name: [] for name in RULES}
    for n, risk in SIZES:
        for kind, draw in KINDS.items():
            for name in NAMES:
                coverages = _coverages(n, risk, DISTRIBUTIONS[name], draw)
                words = "  ".join(f"{rule} {coverage:.3f}" for rule, coverage in coverages.items())
                print(f"n = {n:6} risk {risk:4g} losses {kind:8} {name.split()[0]:8}  {words}", flush=True)
                for rule, coverage in coverages.items():
                    means[rule].append(coverage)
    overall = {rule: float(np.mean(values)) for rule, values in means.items()}
    print("mean of all:", "  ".join(f"{rule} {mean:.3f}" for rule, mean in overall.items()))
    return hard_losses() and overall["step_down"] > max(overall["betting"], overall["Hoeffding-Bentkus"])


def _coverages(n: int, risk: float, rate: Callable[[Any], Any], draw: Draw) -> dict[str, float]:
    coverages: dict[str, list[float]] = {name: [] for name in RULES}
    runs = RUNS if n < 10_000 else SLOW if n <= 10_000 else SLOWEST
    for run in range(runs):
        rng = np.random.default_rng([run, n, 31])
        u = rng.random(n)
        losses = draw(rng, np.minimum(rate(u) * risk / RISK, 1.0))
        for name, rule in RULES.items():
            if name != "betting" or run < SLOW:
                coverages[name].append(rule(1 - u, losses, risk))
    return {name: float(np.mean(values)) for name, values in coverages.items()}


ABOVE = RISK * 1.002
LEVELS = np.array([ABOVE, 0.02, 0.06, 0.2, 0.049])  # of the mean loss, up to each of these coverages
UP_TO = np.array([0.3, 0.35, 0.5, 0.55, 1.0])
HARD_CASES: dict[str, tuple[Draw, int]] = {
    "0 and 1 but for one row in 50, flat": (
        lambda rng, u: (rng.random(len(u)) < ABOVE) * np.where(rng.random(len(u)) < 0.02, 1 - 1e-6, 1.0),
        0,
    ),
    "0, ½, 1, flat": (lambda rng, u: KINDS["0, ½, 1"](rng, np.full(len(u), ABOVE)), 0),
    "0, ½, 1, flat, 20 tied values": (lambda rng, u: KINDS["0, ½, 1"](rng, np.full(len(u), ABOVE)), 20),
    "0, ½, 1, flat, 5 tied values": (lambda rng, u: KINDS["0, ½, 1"](rng, np.full(len(u), ABOVE)), 5),
    "tiny variance, flat": (lambda rng, u: ABOVE + 0.0005 * rng.choice([-1.0, 1.0], len(u)), 0),
    "1 in one row of 500, the rest alike": (
        lambda rng, u: np.where(rng.random(len(u)) < 0.002, 1.0, (ABOVE - 0.002) / 0.998),
        0,
    ),
    "beta, flat": (lambda rng, u: rng.beta(3 * ABOVE, 3 * (1 - ABOVE), len(u)), 0),
    "up and down": (lambda rng, u: KINDS["uniform"](rng, LEVELS[np.searchsorted(UP_TO, u)]), 0),
}


def hard_losses() -> bool:
    """Calibrations just above the target, with rows on both sides of where coins end and where ranks share bets."""
    kept = True
    for n in HARD_SIZES:
        for name, (draw, values) in HARD_CASES.items():
            broken, runs = {"step_down": 0, "empirical (invalid)": 0}, HARD if n < 10_000 else HARD_SLOW
            for run in range(runs):
                rng = np.random.default_rng([run, n, 37])
                u = rng.random(n)
                losses = draw(rng, u)
                c = 1 - (np.floor(u * values) / values if values else u)
                broken["step_down"] += _breaks(lambda c=c, x=losses: step_down(c, x, risk=RISK, delta=DELTA), name)
                broken["empirical (invalid)"] += _breaks(
                    lambda c=c, x=losses: empirical_without_guarantee(c, x, risk=RISK), name
                )
            words = "  ".join(f"{rule} {count / runs:.4f}" for rule, count in broken.items())
            print(f"n = {n:5} {name:38} breaks {words} of {DELTA:g} allowed", flush=True)
            kept &= broken["step_down"] / runs <= DELTA + noise(DELTA, runs)
    return kept


def _breaks(rule: Callable[[], Any], name: str) -> bool:
    try:
        cover = min(1 - rule().value, 1.0)
    except NoSafeThresholdError:
        return False
    if name != "up and down":
        return cover > 0
    positions = (np.arange(2000) + 0.5) / 2000 * cover
    return bool(LEVELS[np.searchsorted(UP_TO, positions)].mean() > RISK)
