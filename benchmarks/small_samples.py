"""Coverage certified with few and many rows, at low and high risks, beside the peers: the table of docs/guarantees.md.

The distributions are those of `guarantees`, their error rates scaled with the target, so that the same coverage is
achievable at every risk. The fixed sequence is that of learn-then-test with exact tests from two coverages on, its
thresholds known beforehand, as if there were any number of unlabelled rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from guarantees import DISTRIBUTIONS
from peers import _mapie

from abstain.thresholds import NoSafeThresholdError, betting, sgr, step_down
from abstain.thresholds.critical_values import at_most

SIZES, RISKS, DELTA = (100, 200, 300, 500, 2000, 20_000), (0.01, 0.02, 0.05, 0.1), 0.1
RUNS, SLOW = 300, 60  # calibrations, and those of the slow rules, on the first of the samples; a fourth with most rows
NAMES = [name for name in DISTRIBUTIONS if "flat" not in name]
KNOWN = "low = 0.005 + 3.5u²"  # where `step_down` is behind, as docs/guarantees.md tells
Rule = Callable[[Any, Any, float], float]


def _ours(rule: Callable[..., Any]) -> Rule:
    def coverage(c: Any, e: Any, risk: float) -> float:
        try:
            return float(np.mean(c > rule(c, e, risk=risk, delta=DELTA).value))
        except NoSafeThresholdError:
            return 0.0

    return coverage


def _fixed_sequence(c: Any, e: Any, risk: float) -> float:
    """Thresholds at coverages of 0.15, 0.16, … and of 0.35, 0.36, …, each sequence with half of δ."""
    order, best = np.argsort(-c), 0
    totals = np.append(0.0, np.cumsum(e[order]))
    for start in (0.15, 0.35):
        accepted = np.searchsorted(1 - c[order], np.arange(start, 1.005, 0.01))
        passed = np.logical_and.accumulate(at_most(totals[accepted], accepted, risk) <= DELTA / 2)
        best = max(best, int(accepted[passed.sum() - 1]) if passed.any() else 0)
    return best / len(c)


def _peer(method: str, candidates: Any) -> Rule:
    def coverage(c: Any, e: Any, risk: float) -> float:
        lowest = _mapie(method, candidates)(c, e, risk)
        return 0.0 if lowest is None else float(np.mean(c >= lowest))

    return coverage


FAST: dict[str, Rule] = {"step_down": _ours(step_down), "sgr": _ours(sgr), "fixed sequence": _fixed_sequence}
RULES = FAST | {"betting": _ours(betting), "MAPIE": _peer("bonferroni_holm", np.linspace(0, 0.99, 100))}


def small_samples() -> bool:
    """Mean coverage and the share of samples with nothing certified, for each number of rows, risk and rule."""
    behind: list[tuple[str, str]] = []
    for n in SIZES:
        for risk in RISKS:
            coverages = {distribution: _coverages(n, risk, DISTRIBUTIONS[distribution]) for distribution in NAMES}
            for distribution, each in coverages.items():
                behind += [
                    (distribution, f"n = {n}, risk {risk:g}, {distribution}: {words}") for words in _behind(each)
                ]
            means = {
                name: (np.mean([each[name].mean() for each in coverages.values()]), _nothing(coverages, name))
                for name in RULES
            }
            summary = "  ".join(f"{name} {mean:.3f} ({nothing:.2f})" for name, (mean, nothing) in means.items())
            print(f"n = {n:6} risk {risk:4g}  {summary}", flush=True)
            print(
                "    "
                + "; ".join(
                    f"{distribution.split()[0]} {each['step_down'].mean():.3f}"
                    for distribution, each in coverages.items()
                )
            )
    print("behind by more than two standard errors:", *([words for _, words in behind] or ["nowhere"]), sep="\n  ")
    return all(distribution == KNOWN for distribution, _ in behind)


def _coverages(n: int, risk: float, rate: Callable[[Any], Any]) -> dict[str, Any]:
    coverages: dict[str, list[float]] = {name: [] for name in RULES}
    few = 1 if n < 10_000 else 4
    for run in range(RUNS // few):
        rng = np.random.default_rng([run, n, 29])
        u = rng.random(n)
        e = (rng.random(n) < np.minimum(rate(u) * risk / 0.05, 1.0)).astype(float)
        for name, rule in RULES.items():
            if name in FAST or run < SLOW // few:
                coverages[name].append(rule(1 - u, e, risk))
    return {name: np.array(each) for name, each in coverages.items()}


def _nothing(coverages: dict[str, dict[str, Any]], name: str) -> float:
    return float(np.mean([(each[name] == 0).mean() for each in coverages.values()]))


def _behind(each: dict[str, Any]) -> list[str]:
    words = []
    for name, peer in each.items():
        gap = peer - each["step_down"][: len(peer)]
        if gap.mean() > 2 * gap.std() / len(gap) ** 0.5 + 1e-9:
            words.append(f"{name} {peer.mean():.3f} against {each['step_down'][: len(peer)].mean():.3f}")
    return words
