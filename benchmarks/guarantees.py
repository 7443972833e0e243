"""Promises kept and broken over thousands of calibrations: what docs/guarantees.md reports."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from abstain.monitor import AcceptanceMonitor, RiskMonitor, ScoreMonitor
from abstain.thresholds import (
    NoSafeThresholdError,
    bonferroni,
    conformal_joint,
    conformal_selection,
    empirical_without_guarantee,
    fixed_sequence,
    group_thresholds,
    label_shift_bound,
    minimal_cost,
    sgr,
    target_coverage,
    weighted_fixed_sequence,
)

RUNS, N, RISK, DELTA = 2000, 2000, 0.05, 0.1
GRID = (np.arange(100_000) + 0.5) / 100_000
LAWS: dict[str, Callable[[Any], Any]] = {
    "monotone": lambda t: 0.01 + 0.3 * t**2,
    "confident errors": lambda t: np.where(t < 0.02, 0.4, 0.01 + 0.25 * t**2),
    "flat just above": lambda t: np.full_like(t, 0.0501),
}


def noise(share: float, runs: int = RUNS) -> float:
    """Three standard errors of a share over the runs."""
    return float(3 * np.sqrt(share * (1 - share) / runs))


def guarantees() -> bool:
    """2,000 calibrations of each rule on three laws: share of runs that break the target, and mean coverage."""
    rules: dict[str, Callable[..., Any]] = {
        "fixed_sequence (pilot)": lambda c, e, run: fixed_sequence(c, e, risk=RISK, delta=DELTA, seed=run),
        "fixed_sequence (pool)": lambda c, e, run: fixed_sequence(
            c, e, risk=RISK, delta=DELTA, unlabelled=np.random.default_rng([run, 7]).random(2000)
        ),
        "fixed_sequence (losses 0, ½, 1)": lambda c, e, run: fixed_sequence(
            c,
            np.where(e > 0, np.random.default_rng([run, 3]).choice([0.5, 1.0], size=len(e)), 0.0),
            risk=0.75 * RISK,  # the mean loss is ¾ of the error rate
            delta=DELTA,
            seed=run,
        ),
        "sgr": lambda c, e, _: sgr(c, e, risk=RISK, delta=DELTA),
        "bonferroni": lambda c, e, _: bonferroni(c, e, risk=RISK, delta=DELTA),
        "empirical_without_guarantee": lambda c, e, _: empirical_without_guarantee(c, e, risk=RISK),
    }
    kept = True
    for law, rate in LAWS.items():
        true = np.cumsum(rate(GRID)) / np.arange(1, len(GRID) + 1)
        oracle = max(np.flatnonzero(true <= RISK), default=0) / len(GRID)
        print(f"{law}: oracle coverage {oracle:.3f}")
        for name, rule in rules.items():
            rng, broken, total = np.random.default_rng(0), 0, 0.0
            for run in range(RUNS):
                t = rng.random(N)
                e = (rng.random(N) < rate(t)).astype(float)
                try:
                    coverage = min(1 - rule(1 - t, e, run).value, 1.0)
                except NoSafeThresholdError:
                    continue
                total += coverage
                broken += true[min(int(coverage * len(GRID)), len(GRID)) - 1] > RISK
            print(f"  {name:32} breaks {broken / RUNS:.3f}  coverage {total / RUNS:.3f}")
            kept &= name == "empirical_without_guarantee" or broken / RUNS <= DELTA + noise(DELTA)
    return kept


def other_promises() -> bool:
    """2,000 calibrations of each rule that promises something else: the share of runs that break it, or the mean."""
    kept = True

    def told(name: str, found: float, limit: float, error: float) -> None:
        nonlocal kept
        kept &= found <= limit + error
        print(f"{name:66} {found:.4f} of {limit:g} allowed")

    def share_broken(name: str, trial: Callable[[np.random.Generator, int], bool]) -> None:
        broken = sum(trial(np.random.default_rng([run, 11]), run) for run in range(RUNS))
        told(f"{name}: breaks", broken / RUNS, DELTA, noise(DELTA))

    for law, rate in LAWS.items():
        shares, joint = np.zeros(RUNS), np.zeros(RUNS)
        for run in range(RUNS):
            rng = np.random.default_rng([run, 13])
            t, new = rng.random(N), rng.random(N)
            e, wrong = rng.random(N) < rate(t), rng.random(N) < rate(new)
            try:
                accepted = conformal_selection(1 - t, e, 1 - new, risk=RISK).accepts(1 - new)
                shares[run] = wrong[accepted].mean() if accepted.any() else 0.0
            except NoSafeThresholdError:
                shares[run] = 0.0
            joint[run] = (conformal_joint(1 - t, e, risk=0.02).accepts(1 - new) & wrong).mean()
        told(f"conformal_selection, {law}: mean share of errors", shares.mean(), RISK, 3 * shares.std() / RUNS**0.5)
        told(f"conformal_joint, {law}: mean of accepted and wrong", joint.mean(), 0.02, 3 * joint.std() / RUNS**0.5)

    share_broken(
        "target_coverage 0.8",
        lambda rng, _: 1 - target_coverage(rng.random(500), coverage=0.8, delta=DELTA).value < 0.8,
    )

    def cost(rule: Callable[..., Any]) -> Callable[[np.random.Generator, int], bool]:
        def trial(rng: np.random.Generator, run: int) -> bool:
            t = rng.random(600)
            found = rule(1 - t, rng.random(600) < t**2, rejection=0.2, delta=DELTA, seed=run)
            cover = min(1 - found.value, 1.0)
            return bool(cover**3 / 3 + 0.2 * (1 - cover) > found.bound)

        return trial

    share_broken("minimal_cost: bound on the cost", cost(minimal_cost))
    share_broken("cost of a fixed threshold", cost(partial(minimal_cost, threshold=0.4)))

    def weighted(by: str) -> Callable[[np.random.Generator, int], bool]:
        def trial(rng: np.random.Generator, run: int) -> bool:
            x, t = rng.random(4000) < 0.3, rng.random(4000)
            e = rng.random(4000) < np.where(x, 0.12 * t + 0.02, 0.02 * t)
            w = np.where(x, 2.0, 0.4 / 0.7)
            try:
                found = weighted_fixed_sequence(1 - t, e, w, largest=2.0, risk=0.04, delta=DELTA, by=by, seed=run)
            except NoSafeThresholdError:
                return False
            cover = min(1 - found.value, 1.0)
            return bool(0.6 * (0.02 + 0.06 * cover) + 0.4 * 0.01 * cover > 0.04)

        return trial

    share_broken("weighted_fixed_sequence by rejection sampling", weighted("rejection_sampling"))
    share_broken("weighted_fixed_sequence by betting", weighted("betting"))

    def groups(rng: np.random.Generator, run: int) -> bool:
        t, g = rng.random(4000), rng.integers(2, size=4000)
        e = rng.random(4000) < np.where(g == 0, 0.01 + 0.3 * t**2, 0.02 + 0.4 * t**2)
        try:
            found = group_thresholds(1 - t, e, g, risk=0.06, delta=DELTA, seed=run)
        except NoSafeThresholdError:
            return False
        a, b = (min(1 - found[name].value, 1.0) for name in ("0", "1"))
        return bool(0.01 + 0.1 * a**2 > 0.06 or 0.02 + 0.4 / 3 * b**2 > 0.06)

    share_broken("group_thresholds, any group", groups)

    def label_shift(rng: np.random.Generator, _: int) -> bool:
        accepted, out = rng.binomial(1000, 0.8), rng.binomial(300, 0.2)
        errors = rng.binomial(accepted, 0.02)
        found = label_shift_bound(
            n=1000, accepted=int(accepted), errors=int(errors), delta=DELTA, n_out=300, accepted_out=int(out)
        )
        true = (0.9 * 0.8 * 0.02 + 0.1 * 0.2) / (0.9 * 0.8 + 0.1 * 0.2)
        return bool(found.at(0.1) < true)

    share_broken("label_shift_bound at a tenth unknown", label_shift)
    return kept


def monitors() -> bool:
    """False alarms over 5,000 steps, and median delays from the start and after 2,000 good samples, of each monitor."""
    rng, runs, kept = np.random.default_rng(0), 200, True

    def report(name: str, start: Callable[[], Any], draw: Callable[[int], Any], *, null: bool) -> None:
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
        kept &= not null or len(found) / runs <= 0.05 + noise(0.05, runs)

    def risk_at(rate: float) -> Callable[[int], Any]:
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
