"""How long `abstain monitor` takes for millions of rows, from the command to the saved state."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from finding import Finding

FEW = 1000
FORMATS = {".parquet": ("write_parquet", 1), ".csv": ("write_csv", 1), ".jsonl": ("write_ndjson", None)}
"""How each is written, and the goal in millions of rows a second."""


def monitor_speed(quick: bool) -> Iterator[Finding]:
    """Decisions with ids and labels, in each kind of file; what a thousand rows take, the start, is left out."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        decisions(4000, 0).select("confidence", "error").write_csv(folder / "calibration.csv")
        abstain("calibrate", folder / "calibration.csv", "--risk", "0.1", "-o", folder / "s.abstain")
        for ending, (write, goal) in FORMATS.items():
            n = 1_000_000 if quick or not goal else 5_000_000
            few, many = (folder / f"{size}{ending}" for size in (FEW, n))
            for file, size in ((few, FEW), (many, n)):
                getattr(decisions(size, 1), write)(file)
            taken = {file: min(_seconds(file, folder) for _ in range(2 if quick else 3)) for file in (few, many)}
            seconds = taken[many] - taken[few]
            rate = f"{n / seconds:,.0f} a second"
            yield Finding(
                f"abstain monitor, {n:,} rows with ids, {ending}", rate, "seconds", seconds, goal and n / goal / 1e6
            )


def decisions(n: int, seed: int) -> pl.DataFrame:
    """Decisions of one distribution, with labels."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1.5, n)
    ids = pl.Series(np.arange(n)).cast(str)
    error = rng.random(n) < 0.45 * (1 - confidence)
    return pl.DataFrame({"id": "s" + ids, "confidence": confidence, "accepted": confidence > 0.6, "error": error})


def abstain(*words: object) -> int:
    """The exit code of a command."""
    command = [sys.executable, "-m", "abstain", *map(str, words)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def _seconds(file: Path, folder: Path) -> float:
    state = folder / "watch.json"
    state.unlink(missing_ok=True)
    begun = time.perf_counter()
    assert abstain("monitor", file, "--selector", folder / "s.abstain", "--state", state) in (0, 3)  # 3 is an alarm
    return time.perf_counter() - begun
