"""How often equal models are called different, and kept guarantees refuted: what docs/guarantees.md reports."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from guarantees import noise
from scipy.stats import norm

from abstain import Outputs, calibrate, certify
from abstain.metrics.two_models import ModelDifference, TwoModels
from abstain.thresholds import Quantity
from abstain.thresholds.refutation import refutation_p

LEVEL = 0.05
POINTS: dict[str, Callable[[TwoModels], ModelDifference]] = {
    "AURC": lambda two: two.aurc(),
    "AURC-0.5": lambda two: two.aurc(alpha=0.5),
    "risk at coverage 0.8": lambda two: two.risk(coverage=0.8),
    "risk at coverage 0.3": lambda two: two.risk(coverage=0.3),
    "coverage at risk 0.05": lambda two: two.coverage(risk=0.05),
    "coverage at the other's risk": lambda two: two.coverage_at_risk_of_b(coverage=0.8),
}
CLUSTERS = {  # rows of a large cluster, how many clusters are large, and how many of these are wrong
    "copies": (8, 1.0, 0.1),
    "large and right": (8, 0.05, 0.0),
    "large and wrong": (8, 0.02, 0.6),
    "rare and right": (200, 1 / 600, 0.0),
}


def comparisons() -> bool:
    """The share of runs with a significant difference between equal models; of intervals that hold a known one."""
    kept, runs, rng = True, 1000, np.random.default_rng(0)
    cases = {
        "rows": (1000, -1.0, 1),
        "small": (300, -1.0, 1),
        "few errors": (300, -2.0, 1),
        "clusters": (1000, -1.0, 4),
    }
    for case, (n, harder, copies) in cases.items():
        pairs = [_models(rng, n, (1.0, 1.0), harder, copies) for _ in range(runs)]
        for name, point in POINTS.items():
            share = np.mean([point(two).is_significant for two in pairs])
            print(f"equal models, {case}, {name}: called different {share:.3f}")
            kept &= bool(share <= LEVEL + noise(LEVEL, runs))
    truth = _models(rng, 1_000_000, (2.0, 0.8), -1.0, 2)
    pairs = [_models(rng, 2000, (2.0, 0.8), -1.0, 2) for _ in range(runs)]
    for name, point in POINTS.items():
        differences, true = [point(two) for two in pairs], point(truth).difference
        held = np.mean([difference.low <= true <= difference.high for difference in differences])
        noticed = np.mean([difference.is_significant for difference in differences])
        ratio = np.mean([difference.se for difference in differences if difference.se is not None]) / np.std(
            [difference.difference for difference in differences]
        )
        print(
            f"difference {true:.4f}, {name}: held {held:.3f}, noticed {noticed:.3f}, "
            f"standard error / spread {ratio:.2f}"
        )
        kept &= bool(held >= 1 - LEVEL - noise(LEVEL, runs))
    return kept


def refutations() -> bool:
    """The share of runs in which a guarantee that is just kept is called refuted, by ours and by naive tests."""
    kept, runs, rng, limit = True, 4000, np.random.default_rng(0), 0.1
    for n in (20, 200, 2000):
        for rate in (0.01, limit):
            rows = rng.random((runs, n)) < rate
            ours = np.mean([refutation_p(each, np.ones(n, bool), limit=rate) <= LEVEL for each in rows])
            naive = np.mean(norm.sf((rows.mean(axis=1) - rate) / np.sqrt(rate * (1 - rate) / n)) <= LEVEL)
            print(f"{n} independent rows, rate {rate}: refuted {ours:.4f}, by the normal test {naive:.4f}")
            kept &= bool(ours <= LEVEL + noise(LEVEL, runs))
    for kind, (size, share, rate) in CLUSTERS.items():
        decisions = np.array([_refuted(*_clusters(rng, size, share, rate, limit), limit, size) for _ in range(runs)])
        ours, of_rows, of_clusters = decisions.mean(axis=0)
        words = f"by the normal test of rows {of_rows:.4f}, of clusters {of_clusters:.4f}"
        print(f"600 clusters of 1 or {size} rows, {kind}: refuted {ours:.4f}, {words}")
        kept &= bool(ours <= LEVEL)
    for sizes in ((100,) * 10, (1000, 300, 100, 30, 10)):
        decisions = np.array(
            [_groups_refuted(rng, np.repeat(range(len(sizes)), sizes), limit) for _ in range(runs // 4)]
        )
        ours, each = decisions.mean(axis=0)
        words = f"each at the whole level {each:.4f}"
        print(f"one guarantee of all rows and of {len(sizes)} groups: refuted {ours:.4f}, {words}", flush=True)
        kept &= bool(ours <= LEVEL + noise(LEVEL, runs // 4))
    return kept


def _groups_refuted(rng: np.random.Generator, group: Any, limit: float) -> tuple[bool, bool]:
    """Whether `certify` refutes any part where all are just kept, and whether a test at the whole level would."""
    names = np.char.add("g", group.astype(str))
    selector = calibrate(Outputs(confidences={"own": rng.random(1000)}, errors=np.zeros(1000, dtype=bool)), risk=limit)
    whole, groups = selector.threshold.guarantee, tuple(np.unique(names))
    each = replace(whole, quantity=Quantity.GROUP_RISK, groups=groups, per="domain")
    selector = replace(selector, threshold=replace(selector.threshold, value=-1.0, further=(each,)))
    fresh = Outputs(confidences={"own": rng.random(len(group))}, errors=rng.random(len(group)) < limit, domain=names)
    tests = [test.result for test in certify(selector, fresh, level=LEVEL).fresh.tests]
    return any(test.verdict == "refuted" for test in tests), any(test.p_value <= LEVEL for test in tests)


def _models(rng: np.random.Generator, n: int, quality: tuple[float, ...], harder: float, copies: int) -> TwoModels:
    """Two models with errors of their own on the same samples, and confidences of a quality each."""
    latent = np.repeat(rng.normal(size=n // copies), copies)
    latent = latent if copies == 1 else 0.8 * latent + 0.6 * rng.normal(size=n)
    shared, columns = rng.normal(size=n), []
    for each in quality:
        errors = latent + 0.45 * shared + 0.22 * rng.normal(size=n) < harder
        columns += [each * latent + 0.7 * rng.normal(size=n), errors]
    return TwoModels.of(*columns, ids=np.repeat(np.arange(n // copies), copies))


def _clusters(rng: np.random.Generator, size: int, share: float, rate: float, limit: float) -> tuple[Any, Any]:
    """Errors and clusters of rows whose rate of errors is the limit: a large cluster is wrong or right as a whole."""
    large = rng.random(600) < share
    rest = limit if share == 1 else (limit * (size * share + 1 - share) - size * share * rate) / (1 - share)
    number = np.repeat(np.arange(600), np.where(large, size, 1))
    wrong = np.where(large, rng.random(600) < rate, rng.random(600) < rest)
    return wrong[number], number


def _refuted(events: Any, number: Any, limit: float, largest: int) -> tuple[bool, bool, bool]:
    every = np.ones(len(events), dtype=bool)
    excess = np.bincount(number, weights=events - limit)
    of_rows = (events.mean() - limit) / np.sqrt(limit * (1 - limit) / len(events))
    of_clusters = excess.sum() / np.sqrt(np.square(excess).sum())
    ours = refutation_p(events, every, number, limit=limit, largest=largest) <= LEVEL
    return ours, bool(norm.sf(of_rows) <= LEVEL), bool(norm.sf(of_clusters) <= LEVEL)
