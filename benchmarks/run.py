"""Speed as ratios against peers, measured in the same run: machines differ and are noisy, ratios less so.

Usage: scripts/bench [NAME …]. Each benchmark alternates the two sides and compares the medians.
"""

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

ROUNDS = 7


def ratio(name: str, ours: Callable[[], object], peer: Callable[[], object], *, goal: float, peer_name: str) -> bool:
    """Time both sides in turn and print peer time over our time beside the goal."""
    ours(), peer()  # compile, allocate, warm up
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        pair = []
        for side in (ours, peer):
            start = time.perf_counter()
            side()
            pair.append(time.perf_counter() - start)
        times.append((pair[0], pair[1]))
    mine, theirs = (median(column) for column in zip(*times, strict=True))
    met = theirs / mine >= goal
    print(
        f"{name}: {1e3 * mine:.0f} ms, {peer_name} {1e3 * theirs:.0f} ms: {theirs / mine:.2f}x "
        f"(goal: at least {goal:g}x{'' if met else ', MISSED'})"
    )
    return met


def logit_scores() -> bool:
    """The seven logit scores of 50,000 × 1,000 float32 logits against PyTorch doing them one by one."""
    import torch

    import abstain

    torch.set_num_threads(2)
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=(50_000, 1_000)).astype(np.float32)
    weight = rng.normal(size=(1_000, 64)).astype(np.float32)
    z, w = torch.from_numpy(logits), torch.from_numpy(weight)

    def one_by_one() -> list[torch.Tensor]:
        top = z.topk(2, dim=1).values
        distances = (z / w.norm(dim=1)).topk(2, dim=1).values
        return [
            z.softmax(1).amax(1),
            1 - 1 / z.softmax(1).square().sum(1),
            (z.softmax(1) * z.log_softmax(1)).sum(1),
            z.amax(1),
            z.logsumexp(1),
            top[:, 0] - top[:, 1],
            distances[:, 0] - distances[:, 1],
        ]

    with torch.inference_mode():
        return ratio(
            "logit_scores, 50,000 x 1,000 float32",
            lambda: abstain.scores.logit_scores(logits, weight),
            one_by_one,
            goal=6,
            peer_name="PyTorch, 7 scores, 2 threads",
        )


def knn() -> bool:
    """KNN of 50,000 queries against 5,000 calibration rows in 1,024 dimensions against plain faiss, 2 threads each."""
    import faiss

    from abstain import Outputs
    from abstain.scores import KNN

    faiss.omp_set_num_threads(2)
    rng = np.random.default_rng(0)
    bank, queries = (rng.normal(size=(n, 1_024)).astype(np.float32) for n in (5_000, 50_000))
    calibration = Outputs(logits=np.zeros((len(bank), 2), dtype=np.float32), features=bank)
    outputs = Outputs(logits=np.zeros((len(queries), 2), dtype=np.float32), features=queries)
    fitted = KNN(k=2).fit(calibration)

    def plain_faiss() -> np.ndarray:
        index = faiss.IndexFlatL2(bank.shape[1])
        index.add(bank / np.linalg.norm(bank, axis=1, keepdims=True))
        return -index.search(queries / np.linalg.norm(queries, axis=1, keepdims=True), 2)[0][:, 1]

    return ratio(
        "KNN, 50,000 against 5,000 in 1,024 dimensions",
        lambda: fitted(outputs),
        plain_faiss,
        goal=1 / 1.2,
        peer_name="faiss IndexFlatL2, 2 threads",
    )


def guarantees() -> bool:
    """2,000 calibrations of each rule on three laws: share of runs that break the target, and mean coverage."""
    from abstain.thresholds import NoSafeThresholdError, bonferroni, empirical_without_guarantee, fixed_sequence, sgr

    risk, delta, n, runs = 0.05, 0.1, 2000, 2000
    grid = (np.arange(100_000) + 0.5) / 100_000
    laws = {
        "monotone": lambda t: 0.01 + 0.3 * t**2,
        "confident errors": lambda t: np.where(t < 0.02, 0.4, 0.01 + 0.25 * t**2),
        "flat just above": lambda t: np.full_like(t, 0.0501),
    }
    rules = {
        "fixed_sequence (pilot)": lambda c, e, run: fixed_sequence(c, e, risk=risk, delta=delta, seed=run),
        "fixed_sequence (pool)": lambda c, e, run: fixed_sequence(
            c, e, risk=risk, delta=delta, unlabelled=np.random.default_rng([run, 7]).random(2000)
        ),
        "sgr": lambda c, e, _: sgr(c, e, risk=risk, delta=delta),
        "bonferroni": lambda c, e, _: bonferroni(c, e, risk=risk, delta=delta),
        "empirical_without_guarantee": lambda c, e, _: empirical_without_guarantee(c, e, risk=risk),
    }
    kept = True
    for law, rate in laws.items():
        true = np.cumsum(rate(grid)) / np.arange(1, len(grid) + 1)
        oracle = max(np.flatnonzero(true <= risk), default=-1) / len(grid)
        print(f"{law}: oracle coverage {oracle:.3f}")
        for name, rule in rules.items():
            rng, broken, total = np.random.default_rng(0), 0, 0.0
            for run in range(runs):
                t = rng.random(n)
                e = (rng.random(n) < rate(t)).astype(float)
                try:
                    coverage = min(1 - rule(1 - t, e, run).value, 1.0)
                except NoSafeThresholdError:
                    continue
                total += coverage
                broken += true[min(int(coverage * len(grid)), len(grid)) - 1] > risk
            print(f"  {name:28} breaks {broken / runs:.3f}  coverage {total / runs:.3f}")
            kept &= name == "empirical_without_guarantee" or broken / runs <= delta + 3 * np.sqrt(
                delta * (1 - delta) / runs
            )
    return kept


def monitors() -> bool:
    """False alarms over 5,000 steps, and median delays from the start and after 2,000 good samples, of each monitor."""
    from abstain.monitor import AcceptanceMonitor, RiskMonitor, ScoreMonitor

    rng, runs, kept = np.random.default_rng(0), 200, True

    def report(name: str, start, draw, *, null: bool) -> None:
        nonlocal kept
        delays = []
        for _ in range(runs):
            monitor, delay = start(), None
            for step in range(0, 5000, 5):
                monitor = monitor.observe(draw(5))
                if monitor.alarm:
                    delay = step + 5
                    break
            delays.append(delay)
        found = [delay for delay in delays if delay is not None]
        middle = f", median delay {np.median(found):.0f} samples" if found and not null else ""
        print(f"{name}: alarms {len(found) / runs:.3f}{middle}")
        kept &= not null or len(found) / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)

    def risk_at(rate):
        return lambda n: rng.random(n) < rate

    risk, after = RiskMonitor(risk=0.05, delta=0.05), risk_at(0.02)
    report("risk 0.05 of promised 0.05", lambda: risk, risk_at(0.05), null=True)
    for rate in (0.08, 0.15):
        report(f"risk {rate} from the start", lambda: risk, risk_at(rate), null=False)
        report(f"risk {rate} after 2,000 at 0.02", lambda: risk.observe(after(2000)), risk_at(rate), null=False)
    acceptance = lambda: AcceptanceMonitor.from_calibration(accepted=int(rng.binomial(1000, 0.7)), n=1000)  # noqa: E731
    report("share accepted 0.7 as in calibration", acceptance, risk_at(0.7), null=True)
    for rate in (0.6, 0.85):
        report(f"share accepted {rate} instead of 0.7", acceptance, risk_at(rate), null=False)
    scores = lambda: ScoreMonitor.from_calibration(rng.normal(size=1000))  # noqa: E731
    report("confidences as in calibration", scores, lambda n: rng.normal(size=n), null=True)
    for shift in (-0.3, -1.0):
        report(
            f"confidences lower by {-shift} deviations", scores, lambda n, s=shift: rng.normal(size=n) + s, null=False
        )
    return kept


BENCHMARKS = {"logit_scores": logit_scores, "knn": knn, "guarantees": guarantees, "monitors": monitors}


def main() -> int:
    """Run the benchmarks named, or all; the exit code says whether every goal is met."""
    names = sys.argv[1:] or list(BENCHMARKS)
    met = [BENCHMARKS[name]() for name in names]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
