"""`evaluate` as a whole: outputs that lie on disk and are larger than the memory it may take."""

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from finding import Finding, shortest

import abstain
from abstain import Outputs
from abstain.metrics.intervals import ALPHAS

PLAIN = ("max_softmax", "doctor", "neg_entropy", "max_logit", "energy", "confidence_margin", "gen", "max_logit_pnorm")
FITTED = ("ts_max_softmax", "ts_doctor", "ts_neg_entropy")
LIMIT = 1_000  # megabytes


class PeakOfPrivateMemory:
    """The most anonymous memory of this process while it is open, which leaves out files that are mapped."""

    def __enter__(self) -> "PeakOfPrivateMemory":
        self.peak, self._is_open = 0, True
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._thread.join()

    def _watch(self) -> None:
        while self._is_open:
            lines = Path("/proc/self/status").read_text().splitlines()
            anonymous = next(line for line in lines if line.startswith("RssAnon"))
            self.peak = max(self.peak, 1024 * int(anonymous.split()[1]))
            time.sleep(0.01)


def write_outputs(folder: Path, n: int, k: int) -> None:
    """Logits (n, k) float32, written block by block in the form of the paper's folder, with labels and shifts."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((10_000, k), dtype=np.float32)
    kind = rng.integers(5, size=n)  # two fifths clean, two of covariate shift, one of unknown classes
    labels = np.where(kind == 4, -1, rng.integers(k, size=n))
    logits = np.lib.format.open_memmap(folder / "logits.npy", mode="w+", dtype=np.float32, shape=(n, k))
    for start in range(0, n, len(noise)):
        rows = slice(start, min(start + len(noise), n))
        size = rng.gamma(20, 0.05, size=rows.stop - start).astype(np.float32)
        block = noise[: len(size)] * size[:, None]
        known = np.flatnonzero(labels[rows] >= 0)
        block[known, labels[rows][known]] += np.where(kind[rows][known] < 2, 5, 3.5) * size[known]
        logits[rows] = block
    logits.flush()
    np.save(folder / "labels.npy", labels)
    np.save(folder / "shift.npy", np.array(["none", "covariate", "label"])[np.array([0, 0, 1, 1, 2])[kind]])


def read_outputs(folder: Path) -> Outputs:
    """The outputs, memory-mapped."""
    files = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("logits", "labels", "shift")}
    return Outputs(**files)


def whole_arrays(folder: Path, rows: int) -> list[float]:
    """What a script does with the first rows: every score on whole arrays, an argsort for each score and mix."""
    from scipy.special import logsumexp

    z = np.load(folder / "logits.npy", mmap_mode="r")[:rows].astype(np.float32)
    labels, shift = np.load(folder / "labels.npy")[:rows], np.load(folder / "shift.npy")[:rows]
    errors = z.argmax(axis=1) != labels

    def softmax(logits):
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def top(logits, count):
        return np.sort(np.partition(logits, -count, axis=1)[:, -count:], axis=1)

    scores = [
        lambda: softmax(z).max(axis=1),
        lambda: 1 - 1 / np.square(softmax(z)).sum(axis=1),
        lambda: (softmax(z) * np.log(softmax(z) + 1e-12)).sum(axis=1),
        lambda: z.max(axis=1),
        lambda: logsumexp(z, axis=1),
        lambda: np.diff(top(z, 2), axis=1)[:, 0],
        lambda: -np.power(top(softmax(z), 100) * (1 - top(softmax(z), 100)), 0.1).sum(axis=1),
        lambda: ((z - z.mean(axis=1, keepdims=True)) / np.linalg.norm(z, axis=1, keepdims=True)).max(axis=1),
        *(lambda: softmax(z / 1.5).max(axis=1) for _ in FITTED),
    ]
    areas = []
    mixes = (("none",), ("none", "covariate"), ("none", "label"), ("none", "covariate", "label"))
    for score in scores:
        confidence = score()
        for mix in mixes:
            chosen = np.isin(shift, mix)
            ranked = errors[chosen][np.argsort(-confidence[chosen])]
            risks = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
            areas += [float(risks[: int(alpha * len(ranked))].mean()) for alpha in ALPHAS]
    return areas


def from_disk(quick: bool) -> Iterator[Finding]:
    """Eleven logit scores of outputs on disk, four mixes, three α and paired comparisons, against whole arrays."""
    n, k = 100_000 if quick else 1_000_000, 1_000
    with tempfile.TemporaryDirectory() as name:
        folder, few = Path(name), min(n, 40_000)
        write_outputs(folder, n, k)
        alone = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True)
        ours, peak = map(float, alone.stdout.split())
        start = time.perf_counter()
        whole_arrays(folder, few)
        theirs = (time.perf_counter() - start) * n / few
    what = f"evaluate, 11 scores of {n:,} × {k:,} float32 on disk"
    yield Finding(what, f"whole arrays in NumPy, from {few:,} rows", "faster", theirs / ours, 8, ours, theirs)
    yield Finding(what, "peak of private memory", "megabytes", peak / 1e6, LIMIT)


def evaluated(folder: Path) -> tuple[float, int]:
    """Seconds and peak of private memory, in a process that holds nothing else."""
    abstain.evaluate(read_outputs(folder)[:5_000], scores=[*PLAIN, *FITTED])  # compile
    with PeakOfPrivateMemory() as memory:
        start = time.perf_counter()
        abstain.evaluate(read_outputs(folder), scores=[*PLAIN, *FITTED], alphas=ALPHAS)
        return time.perf_counter() - start, memory.peak


def demo(quick: bool) -> Iterator[Finding]:
    """Every score of the demo, and of outputs with 200 classes and 128 features."""
    from abstain.datasets import digits

    outputs = {"the demo": digits(), "20,000 × 200 with 128 features": _features(5_000 if quick else 20_000)}
    for what, these in outputs.items():
        [seconds] = shortest(lambda these=these: abstain.evaluate(these), rounds=2)
        yield Finding(f"evaluate, all scores of {what}", "whole", "seconds", seconds)


def _features(n: int) -> Outputs:
    rng = np.random.default_rng(0)
    weight, labels = rng.normal(size=(200, 128)).astype(np.float32), rng.integers(200, size=n)
    features = (0.15 * weight[labels] + rng.normal(size=(n, 128))).astype(np.float32)
    shift = np.where(np.arange(n) % 3 == 0, "covariate", "none")
    return Outputs(logits=0.2 * features @ weight.T, labels=labels, features=features, weight=weight, shift=shift)


if __name__ == "__main__":
    print(*evaluated(Path(sys.argv[1])))
