"""False alarms of monitors per group, over whole streams given to `abstain monitor`, and how soon a bad group shows."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars
from numpy.typing import NDArray
from typer.testing import CliRunner

from abstain.cli.app import app
from abstain.monitor import RiskMonitor

RISK, DELTA, MOST = 0.05, 0.05, 200
Stream = tuple[NDArray[np.int64], NDArray[np.bool_]]


def evenly(rng: np.random.Generator, n: int) -> Stream:
    """Twenty groups in any order."""
    return rng.integers(20, size=n), rng.random(n) < RISK


def in_turn(rng: np.random.Generator, n: int) -> Stream:
    """Two hundred groups, one after the other."""
    return np.arange(n) * MOST // n, rng.random(n) < RISK


def by_adversary(rng: np.random.Generator, n: int) -> Stream:
    """The next row is of the same group while that has more errors than expected, and else of a new one."""
    groups, errors = np.empty(n, dtype=np.int64), rng.random(n) < RISK
    group, excess = 0, 0.0
    for k, wrong in enumerate(errors.tolist()):
        groups[k] = group
        excess += wrong - RISK
        if excess < -0.5 and group < MOST - 1:
            group, excess = group + 1, 0.0
    return groups, errors


ORDERS: dict[str, Callable[[np.random.Generator, int], Stream]] = {
    "20 groups, mixed": evenly,
    "200 groups, one after the other": in_turn,
    "groups chosen by an adversary": by_adversary,
}


def watched(groups: NDArray[np.int64], errors: NDArray[np.bool_], folder: Path) -> dict[str, object]:
    """What the command prints about a stream."""
    file = folder / "stream.parquet"
    names = np.char.add("g", groups.astype(str))
    polars.DataFrame({"group": names, "accepted": np.ones(len(groups), dtype=bool), "error": errors}).write_parquet(
        file
    )
    done = CliRunner().invoke(
        app, ["monitor", str(file), "--risk", str(RISK), "--delta", str(DELTA), "--per", "group", "--json"]
    )
    document: dict[str, object] = json.loads(done.stdout)
    return document


def naive(groups: NDArray[np.int64], errors: NDArray[np.bool_]) -> bool:
    """Whether any group has an alarm where each is monitored at the whole δ."""
    order = np.argsort(groups, kind="stable")
    parts = np.split(errors[order], np.unique(groups[order], return_index=True)[1][1:])
    return any(RiskMonitor(RISK, DELTA).observe(part).alarm for part in parts)


def monitor_groups() -> bool:
    """The share of streams with any alarm, while every group has just the risk that is guaranteed."""
    runs, n, kept = 400, 20_000, True
    with TemporaryDirectory() as folder:
        for name, order in ORDERS.items():
            false = uncorrected = 0
            for run in range(runs):
                groups, errors = order(np.random.default_rng([31, run]), n)
                false += bool(watched(groups, errors, Path(folder))["history"])
                uncorrected += naive(groups, errors)
            print(f"{name:36} any alarm {false / runs:.4f}  uncorrected {uncorrected / runs:.4f}", flush=True)
            kept = kept and false / runs <= DELTA + 3 * (DELTA * (1 - DELTA) / runs) ** 0.5
    return kept
