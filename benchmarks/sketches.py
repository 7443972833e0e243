"""Counts of a billion rows: rate, memory, and how much of the area they leave open."""

import resource
import time
from collections.abc import Iterator

import numpy as np
from finding import Finding, faster

from abstain.metrics import aurc
from abstain.metrics.intervals import ALPHAS
from abstain.sketch import Sketch, Tally

BLOCK = 1 << 24


def margins(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Margins of a classifier, and its errors."""
    rng = np.random.default_rng(seed)
    margin = rng.gamma(2, 4, size=n).astype(np.float32)
    return margin, rng.random(n, dtype=np.float32) < 0.5 * np.exp(-margin / 3) + 0.005


def sketches(quick: bool) -> Iterator[Finding]:
    """Pairs of confidence and error, block by block; the time to draw them is left out."""
    n = 100_000_000 if quick else 1_000_000_000
    blocks = [margins(BLOCK, seed) for seed in range(2)]  # 160 MB, far beyond any cache, gone through again and again
    Sketch.of(*blocks[0])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    tally, left, number = Tally(Sketch.of([0.0], [0]).plan), n, 0
    while left:
        confidence, errors = (column[:left] for column in blocks[number % 2])
        tally.add(Sketch.of(confidence, errors))
        left -= len(errors)
        number += 1
    sketch = tally.sketch()
    seconds = time.perf_counter() - begun
    assert sketch.n == n
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    rate = f"{n / seconds / 1e6:,.0f} million a second"
    yield Finding(f"{n:,} pairs into a sketch of 20 bits", rate, "seconds", seconds, goal=n / 50e6)
    yield Finding(f"{n:,} pairs into a sketch of 20 bits", "memory beyond the blocks", "megabytes", grown, goal=100)
    begun = time.perf_counter()
    counts = sketch.counts()
    counts.estimates(ALPHAS)
    for alpha in ALPHAS:
        counts.aurc(alpha)
    seconds = time.perf_counter() - begun
    yield Finding(f"AURC at 3 α with SE and bracket of {n:,} rows", "from its sketch", "seconds", seconds, goal=1)
    yield from _against_rows(1_000_000 if quick else 10_000_000)


def _against_rows(n: int) -> Iterator[Finding]:
    confidence, errors = margins(n, 2)
    bracket, exact = Sketch.of(confidence, errors).counts().aurc(), aurc(confidence, errors)
    assert bracket.contains(exact)
    what = f"bracket of AURC, margin, n = {n:,}, 20 bits"
    yield Finding(what, "its width over the value", "share", bracket.width / bracket.point, goal=1e-3)
    yield Finding(what, "error of the point over the value", "share", abs(bracket.point - exact) / exact)
    what = f"AURC with its bracket from pairs, n = {n:,}"

    def ours() -> object:
        return Sketch.of(confidence, errors).counts().aurc()

    yield faster(what, ours, "sorted, exactly", lambda: aurc(confidence, errors), goal=1, rounds=3)
