"""What once broke a guarantee, through the public functions: the rule's seed is fixed, the data are new in each run."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from guarantees import noise
from monitor_clusters import shares_of_alarms
from sklearn.neighbors import KNeighborsClassifier

from abstain import Outputs, calibrate, certify
from abstain.monitor import DeploymentMonitor, RiskMonitor, Row, ScoreMonitor, Watch
from abstain.sklearn import SelectiveClassifier
from abstain.thresholds import NoSafeThresholdError

LEVEL = 0.05


def former_breaks(runs: int = 400) -> bool:
    """The share of runs in which each guarantee breaks; none may be above its level and noise."""
    kept = True
    for name, share in _shares(runs):
        print(f"{name}: {share:.4f}", flush=True)
        kept &= share <= LEVEL + noise(LEVEL, runs)
    return kept


def _shares(runs: int) -> Iterator[tuple[str, float]]:
    for classes in (100_000, 300):
        breaks = [_unknown_classes(run, classes) for run in range(runs)]
        yield f"SelectiveClassifier, a tenth of the rows of {classes:,} classes", float(np.mean(breaks))
    selector = calibrate(_clusters(np.random.default_rng(0), 30_000, size=600, others=0.02), risk=0.1)
    fresh = (_clusters(np.random.default_rng([run, 2]), 600, size=600, others=0.15) for run in range(runs))
    verdicts = [certify(selector, rows).verdict == "refuted" for rows in fresh]
    yield "certify refutes 0.10, true risk 0.075", float(np.mean(verdicts))
    yield "calibrate with ids speaks of independent rows", float(np.mean([_independent(run) for run in range(runs)]))
    for n in (100, 300, 1000):
        alarms = [_ties(np.random.default_rng([run, n]), n) for run in range(runs)]
        yield f"ScoreMonitor, ties of 0.97, {n} in calibration", float(np.mean(alarms))
    sizes = range(20, 1200)
    constant = [ScoreMonitor.from_calibration(np.ones(n)).observe(np.ones(2000)).alarm for n in sizes]
    yield f"ScoreMonitor, a constant score, {len(sizes)} sizes of calibration", float(np.mean(constant))
    shares = shares_of_alarms(("8", "alike", "shared"), "by cluster", runs=runs, seed=71)
    for monitor, share in zip(("risk", "risk, clusters once", "share", "confidences"), shares, strict=True):
        yield f"monitors, clusters one after the other: {monitor}", float(share)
    yield "RiskMonitor, errors reported 100 rows sooner", float(np.mean([_sooner(run) for run in range(runs)]))


def _long_tail(rng: np.random.Generator, n: int, classes: int) -> tuple[Any, Any]:
    """Two classes far apart, and in their midst a tenth of the rows, of many classes."""
    side = rng.integers(2, size=n)
    x = rng.normal(size=(n, 2)) + 8 * side[:, None]
    return x, np.where(rng.random(n) < 0.1, 2 + rng.integers(classes, size=n), side)


def _unknown_classes(run: int, classes: int) -> bool:
    rng = np.random.default_rng([run, classes])
    selective = SelectiveClassifier(KNeighborsClassifier(), risk=0.05, when_impossible="reject_all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with one row
        selective.fit(*_long_tail(rng, 1000, classes))
    x, y = _long_tail(rng, 4000, classes)
    accepted = selective.accepts(x)
    return bool(accepted.any() and (selective.predict(x) != y)[accepted].mean() > 0.05)


def _clusters(rng: np.random.Generator, clusters: int, *, size: int, others: float, wrong: float = 0.0) -> Outputs:
    """Clusters of 1 row, and one in ``size`` of so many rows, which are wrong as a whole with some probability."""
    large = rng.random(clusters) < 1 / size
    number = np.repeat(np.arange(clusters), np.where(large, size, 1))
    errors = np.where(large, rng.random(clusters) < wrong, rng.random(clusters) < others)[number]
    ids = np.array([f"{rng.integers(10**9)}-{k}" for k in range(clusters)])[number]
    return Outputs(confidences={"c": rng.random(len(number))}, errors=errors, ids=ids)


def _independent(run: int) -> bool:
    """One in 400 clusters has 400 rows, all wrong."""
    try:
        rows = _clusters(np.random.default_rng([run, 3]), 550, size=400, others=0.01, wrong=1.0)
        guarantee = calibrate(rows, risk=0.05).threshold.guarantee
    except NoSafeThresholdError:
        return False
    return guarantee.largest is None or "for rows drawn independently" in str(guarantee)


def _ties(rng: np.random.Generator, n: int) -> bool:
    calibration, stream = ((rng.random(size) < 0.97).astype(float) for size in (n, 5000))
    return bool(ScoreMonitor.from_calibration(calibration).observe(stream).alarm)


def _sooner(run: int, rows: int = 2000, sooner: int = 100) -> bool:
    """A risk of 0.02 where 0.05 is guaranteed; right answers are reported later than errors."""
    errors = np.random.default_rng([run, 9]).random(rows) < 0.02
    watch = Watch(DeploymentMonitor(RiskMonitor(risk=0.05, delta=LEVEL)))
    stream = []
    for k in range(rows + sooner):
        if k < rows:
            stream.append(Row(True, float(k), True if errors[k] else None, id=str(k)))
        if k >= sooner and not errors[k - sooner]:
            stream.append(Row(error=False, id=str(k - sooner)))
    watch.observe(stream)
    return bool(watch.monitors.risk.alarm)
