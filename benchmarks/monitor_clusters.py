"""A search over distributions of clusters and orders of their rows for those on which monitors raise false alarms."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from guarantees import noise
from numpy.typing import NDArray

from abstain import Outputs, calibrate
from abstain.monitor import DeploymentMonitor, RiskMonitor

DELTA, CALIBRATION, STREAM, POPULATION = 0.05, 200, 600, 60_000
SIZES: dict[str, Callable[[Any, int], Any]] = {
    "8": lambda _, n: np.full(n, 8),
    "1 or, one in 10, 30": lambda rng, n: np.where(rng.random(n) < 0.1, 30, 1),
    "1 or, one in 100, 300": lambda rng, n: np.where(rng.random(n) < 0.01, 300, 1),
    "geometric": lambda rng, n: np.minimum(rng.geometric(0.2, size=n), 25),
}
MOST = {"8": 8, "1 or, one in 10, 30": 30, "1 or, one in 100, 300": 300, "geometric": 25}
LARGE = {"alike": 0.0, "surer": 1.5, "less sure": -1.5}
ERRORS = ("shared", "in the first row")
ORDERS = ("by cluster", "shuffled", "stacked")
Rows = tuple[Any, Any, Any]


def draw(rng: np.random.Generator, n: int, sizes: str, large: str, errors: str) -> Rows:
    """Ids, confidences and errors of the rows of n clusters, cluster by cluster."""
    size = SIZES[sizes](rng, n)
    base = rng.normal(size=n) + LARGE[large] * (size > np.median(size))
    ids = np.repeat(np.arange(n), size)
    confidence = base[ids] + 0.3 * rng.normal(size=len(ids))
    if errors == "shared":
        return ids, confidence, (rng.random(n) < 1 / (1 + np.exp(2 + 2 * base)))[ids]
    first = np.searchsorted(ids, ids) == np.arange(len(ids))
    return ids, confidence + 0.5 * first, first & (rng.random(len(ids)) < 1 / (1 + np.exp(1 + confidence)))


def ordered(rng: np.random.Generator, rows: Rows, order: str) -> Rows:
    """The rows cluster by cluster, shuffled, or the first of all clusters, then the second of all."""
    ids = rows[0]
    if order == "shuffled":
        order_of_rows = rng.permutation(len(ids))
    else:
        number = np.arange(len(ids)) - np.searchsorted(ids, ids)
        order_of_rows = np.argsort(number, kind="stable") if order == "stacked" else np.arange(len(ids))
    ids, confidence, errors = (column[order_of_rows] for column in rows)
    return ids, confidence, errors


def alarms(
    rng: np.random.Generator,
    distribution: tuple[str, str, str],
    order: str,
    population: Rows,
    *,
    counting: str = "clusters",
) -> list[bool]:
    """Of the risk of rows, of the risk in which clusters count once, of the share accepted and of the confidences."""
    ids, confidence, errors = draw(rng, CALIBRATION, *distribution)
    by_ids = counting == "clusters"
    known_ids = {"ids": ids} if by_ids else {}
    selector = calibrate(
        Outputs(confidences={"vendor": confidence}, errors=errors, **known_ids), coverage=0.7, delta=0.2
    )
    everyone, values, wrong = population
    inside, weight = values > selector.threshold.value, 1 / np.bincount(everyone)[everyone]
    of_rows, of_clusters = (float(np.average(wrong[inside], weights=w[inside])) for w in (np.ones(len(values)), weight))
    ids, confidence, errors = ordered(rng, draw(rng, STREAM, *distribution), order)
    ids, largest = (ids, MOST[distribution[0]]) if by_ids else (None, None)
    accepted = confidence > selector.threshold.value
    known = np.where(accepted, errors, np.nan)
    monitor = DeploymentMonitor.of(selector, risk=of_clusters, delta=DELTA).observe_errors(known, ids=ids)
    monitor = monitor.observe_accepted(accepted, ids=ids).observe_confidence(confidence, ids=ids)
    rows = DeploymentMonitor(RiskMonitor(of_rows, DELTA, largest=largest)).observe_errors(known, ids=ids)
    return [bool(rows.alarms), *(name in monitor.alarms for name in ("risk", "acceptance", "scores"))]


def shares_of_alarms(
    distribution: tuple[str, str, str], order: str, *, runs: int, seed: int = 7, counting: str = "clusters"
) -> NDArray[np.float64]:
    """False alarms of the four monitors in new data each run."""
    rng, population = np.random.default_rng(seed), draw(np.random.default_rng(99), POPULATION, *distribution)
    return np.mean([alarms(rng, distribution, order, population, counting=counting) for _ in range(runs)], axis=0)


def in_every_order(runs: int = 400) -> None:
    """The table of docs/guarantees.md: three distributions in three orders, clusters counted and rows counted."""
    distributions = (("8", "alike", "shared"), ("1 or, one in 10, 30", "surer", "shared"))
    for distribution, order in product((*distributions, ("geometric", "less sure", "shared")), ORDERS):
        for counting in ("clusters", "rows"):
            shares = shares_of_alarms(distribution, order, runs=runs, seed=70, counting=counting)
            print(*distribution, order, counting, shares, flush=True)


def monitor_clusters(runs: int = 200) -> bool:
    """False alarms over distributions of clusters, none of which may be more frequent than δ and noise."""
    kept = True
    distributions = [
        distribution
        for distribution in product(SIZES, LARGE, ERRORS)
        if distribution[0] != "8" or distribution[1] == "alike"
    ]
    for distribution, order in product(distributions, ORDERS):
        shares = shares_of_alarms(distribution, order, runs=runs)
        numbers = ", ".join(f"{each_share:.3f}" for each_share in shares)
        print(
            f"clusters of {distribution[0]}, large ones {distribution[1]}, errors {distribution[2]}, "
            f"{order}: {numbers}",
            flush=True,
        )
        kept &= bool((shares <= DELTA + noise(DELTA, runs)).all())
    return kept
