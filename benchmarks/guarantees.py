"""Guarantees kept and broken over thousands of calibrations: what docs/guarantees.md reports.

The seed of every rule is fixed and the data are new in each run: a rule that is valid only on average over its own
seeds breaks its guarantee for a user, who has one.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from abstain import Outputs, Risk, calibrate
from abstain.monitor import AcceptanceMonitor, RiskMonitor, ScoreMonitor
from abstain.scores import SCORES
from abstain.selector import Recertification
from abstain.thresholds import (
    NoSafeThresholdError,
    betting,
    bonferroni,
    chow_threshold,
    conformal_joint,
    conformal_selection,
    empirical_without_guarantee,
    group_thresholds,
    joint_risk,
    label_shift_bound,
    minimal_cost,
    risk_and_coverage,
    sgr,
    step_down,
    target_coverage,
    trade_off,
    upper_bound,
    weighted_risk,
)
from abstain.thresholds.binomial import binomial_p, lower_bound
from abstain.thresholds.sample import Sample, population_of
from abstain.thresholds.step_down import SafeRanks

RUNS, N, RISK, DELTA = 2000, 2000, 0.05, 0.1
GRID = (np.arange(100_000) + 0.5) / 100_000
DISTRIBUTIONS: dict[str, Callable[[Any], Any]] = {
    "monotone": lambda u: 0.01 + 0.3 * u**2,
    "confident errors": lambda u: np.where(u < 0.02, 0.4, 0.01 + 0.25 * u**2),
    "flat just above": lambda u: np.full_like(u, 0.0501),
    "A = 0.005 + 0.45u²": lambda u: 0.005 + 0.45 * u**2,
    "B = A + 0.3exp(-u/0.01)": lambda u: 0.005 + 0.45 * u**2 + 0.3 * np.exp(-u / 0.01),
    "low = 0.005 + 3.5u²": lambda u: np.minimum(0.005 + 3.5 * u**2, 1.0),
}


def noise(share: float, runs: int = RUNS) -> float:
    """Three standard errors of a share over the runs."""
    return float(3 * np.sqrt(share * (1 - share) / runs))


def halves(c: Any, e: Any) -> Any:
    """Losses of 0, ½ and 1 at three quarters of the target, which is what their mean is of the error rate."""
    rng = np.random.default_rng(int(1e9 * c[0]))
    return step_down(c, np.where(e > 0, rng.choice([0.5, 1.0], size=len(e)), 0.0), risk=0.75 * RISK, delta=DELTA)


def uncorrected(c: Any, e: Any) -> Any:
    """The best rank by its own test, as if no other had been looked at: invalid, a ceiling."""
    sample = Sample.of(c, e)
    ends, totals = sample.ends, sample.totals
    safe = [k for k in ends[::-1] if totals[k - 1] <= RISK * k and binomial_p(totals[k - 1], int(k), RISK) <= DELTA]
    if not safe:
        raise NoSafeThresholdError("none")
    return type("Found", (), {"value": sample.below(int(safe[0]))})


RULES: dict[str, Callable[..., Any]] = {
    "step_down": lambda c, e: step_down(c, e, risk=RISK, delta=DELTA),
    "step_down, losses 0, ½, 1": halves,
    "sgr": lambda c, e: sgr(c, e, risk=RISK, delta=DELTA),
    "bonferroni": lambda c, e: bonferroni(c, e, risk=RISK, delta=DELTA),
    "uncorrected (invalid)": uncorrected,
    "empirical (invalid)": lambda c, e: empirical_without_guarantee(c, e, risk=RISK),
}


def guarantees() -> bool:
    """2,000 calibrations of each rule on six distributions: share of runs that break the target, and mean coverage."""
    kept = True
    for distribution, rate in DISTRIBUTIONS.items():
        true = np.cumsum(rate(GRID)) / np.arange(1, len(GRID) + 1)
        print(f"{distribution}: oracle coverage {max(np.flatnonzero(true <= RISK), default=0) / len(GRID):.3f}")
        for name, rule in RULES.items():
            broken, total = 0, 0.0
            for run in range(RUNS):
                rng = np.random.default_rng([run, 1])
                u = rng.random(N)
                try:
                    coverage = min(1 - rule(1 - u, (rng.random(N) < rate(u)).astype(float)).value, 1.0)
                except NoSafeThresholdError:
                    continue
                total += coverage
                broken += true[min(int(coverage * len(GRID)), len(GRID)) - 1] > RISK
            print(f"  {name:28} breaks {broken / RUNS:.4f}  coverage {total / RUNS:.4f}", flush=True)
            kept &= "invalid" in name or broken / RUNS <= DELTA + noise(DELTA)
    return kept


def hard_cases() -> bool:
    """2,000 calibrations of each case that broke earlier rules: a step, ties, sorted rows, revealing ids, clusters."""
    kept = True
    for n, risk, delta in ((279, 0.0299, 0.1), (500, 0.0299, 0.1), (1511, 0.0299, 0.05)):
        name = f"errors are the 3% least confident, n = {n}, risk {risk:g}, delta {delta:g}"
        kept &= share_broken(name, lambda rng, n=n, r=risk, d=delta: _step(rng, n, r, d), delta=delta)
    for atoms in (5, 20, 60):
        for distribution in ("monotone", "flat just above"):
            name = f"ties, {atoms} atoms, {distribution}"
            kept &= share_broken(name, lambda rng, a=atoms, f=DISTRIBUTIONS[distribution]: _ties(rng, a, f))
    kept &= share_broken("one value and about five others seen, flat just above", _about_six_values)
    kept &= share_broken("rows sorted by error, then confidence, flat", lambda rng: _sorted(rng))
    for ids in ("numbers", "revealing the label", "ranks"):
        kept &= share_broken(f"betting, clusters of 1 and 6 rows, ids {ids}", lambda rng, i=ids: _clusters(rng, i))
    share_broken("one row of each cluster, asked for the risk of rows (invalid)", lambda rng: _clusters(rng, "one"))
    return kept


def _step(rng: np.random.Generator, n: int, risk: float, delta: float) -> bool:
    u = rng.random(n)
    cover = min(1 - step_down(1 - u, (u > 0.97).astype(float), risk=risk, delta=delta).value, 1.0)
    return max(0.0, cover - 0.97) / cover > risk


def _ties(rng: np.random.Generator, atoms: int, rate: Callable[[Any], Any]) -> bool:
    true = np.cumsum(rate(GRID)) / np.arange(1, len(GRID) + 1)
    u = rng.random(N)
    atom = (u * atoms).astype(int)
    threshold = step_down(1 - atom / atoms, (rng.random(N) < rate(u)).astype(float), risk=RISK, delta=DELTA)
    last = np.flatnonzero(threshold.accepts(1 - np.arange(atoms) / atoms))[-1]
    return bool(true[int(len(GRID) * (last + 1) / atoms) - 1] > RISK)


def _about_six_values(rng: np.random.Generator) -> bool:
    """Six values or fewer are seen in about half of the samples, so that either test is used."""
    c = np.where(rng.random(1000) < 0.0055, rng.normal(size=1000), 0.0)
    step_down(c, (rng.random(1000) < 0.0501).astype(float), risk=RISK, delta=DELTA)
    return True


def _sorted(rng: np.random.Generator) -> bool:
    u, e = rng.random(N), (rng.random(N) < 0.0501).astype(float)
    order = np.lexsort((u, -e))
    step_down(1 - u[order], e[order], risk=RISK, delta=DELTA)
    return True


def _clusters(rng: np.random.Generator, ids: str) -> bool:
    """A third of the clusters have 6 rows that are right or wrong together, the others one row, hardly ever wrong."""
    sizes = np.where(rng.random(1500) < 1 / 3, 6, 1)
    cluster = np.repeat(np.arange(1500), sizes)
    position = rng.random(1500)
    wrong = rng.random(1500) < np.where(sizes == 6, 0.02 + 0.2 * position, 0.005)
    c, e = 1 - position[cluster] + 1e-6 * rng.random(len(cluster)), wrong[cluster].astype(float)
    names: Any = cluster
    if ids == "revealing the label":
        names = np.char.add(np.where(e == 1, "a", "b"), cluster.astype(str))
    elif ids == "ranks":
        names = np.argsort(np.argsort(position))[cluster]
    rule = step_down if ids == "one" else betting
    cover = min(1 - rule(c, e, risk=0.08, delta=DELTA, ids=names).value, 1.0)
    return (2.0 * (0.02 + 0.1 * cover) + (2 / 3) * 0.005) / (2.0 + 2 / 3) > 0.08


def share_broken(
    name: str, trial: Callable[[np.random.Generator], bool], *, delta: float = DELTA, runs: int = RUNS
) -> bool:
    """Print the share of runs in which a guarantee was made and broken, beside δ."""
    broken = 0
    for run in range(runs):
        try:
            broken += trial(np.random.default_rng([run, 11]))
        except NoSafeThresholdError:
            continue
    print(f"{name:80} {broken / runs:.4f} of {delta:g} allowed", flush=True)
    return broken / runs <= delta + noise(delta, runs)


def adversary() -> bool:
    """Search the piecewise error rates on which `step_down` breaks most often, then measure them on new data."""
    n, pieces, runs, fresh = 1000, 10, 400, 20_000
    rng = np.random.default_rng(0)
    u = np.sort(rng.random((runs, n)), axis=1)
    coins = rng.random((runs, n))
    best_distribution, best = np.full(pieces, RISK + 1e-4), 0.0
    for start in (np.full(pieces, RISK + 1e-4), *_random_distributions(pieces, 2)):
        distribution = np.array(start)
        rate = _familywise(distribution, u, coins)
        for piece in rng.permutation(pieces):
            for value in (0.0, 0.5 * RISK, RISK + 1e-4, 1.2 * RISK, 2 * RISK, 0.3):
                trial = np.where(np.arange(pieces) == piece, value, distribution)
                trial_rate = _familywise(trial, u, coins)
                if trial_rate > rate:
                    distribution, rate = trial, trial_rate
        print(f"  a search from {np.round(start, 3)} ends at {np.round(distribution, 4)}: {rate:.4f}", flush=True)
        if rate > best:
            best_distribution, best = distribution, rate
    rng = np.random.default_rng(1)
    broken = round(
        fresh * _familywise(best_distribution, np.sort(rng.random((fresh, n)), axis=1), rng.random((fresh, n)))
    )
    low, high = lower_bound(broken, fresh, 0.025), upper_bound(broken, fresh, 0.025)
    print(f"worst familywise rate found, on new data: {broken / fresh:.4f} [{low:.4f}, {high:.4f}], {DELTA:g} allowed")
    return low <= DELTA


def _random_distributions(pieces: int, count: int) -> Iterator[Any]:
    for seed in range(count):
        yield np.random.default_rng(seed).choice([0.0, 0.5 * RISK, RISK, 1.5 * RISK, 3 * RISK], size=pieces)


def _familywise(distribution: Any, u: Any, coins: Any) -> float:
    """The share of samples on which any rank that is certified, not only the last, has a risk above the target."""
    edges = np.linspace(0, 1, len(distribution) + 1)
    mass = np.append(0.0, np.cumsum(distribution / len(distribution)))
    broken = 0
    for positions, toss in zip(u, coins, strict=True):
        e = (
            toss < distribution[np.minimum((positions * len(distribution)).astype(int), len(distribution) - 1)]
        ).astype(float)
        ranks = SafeRanks.of(Sample(1 - positions, e, True, population_of(len(e), None)), RISK, DELTA).ranks
        following = np.append(positions, 1.0)
        cover = np.where(ranks == len(positions), 1.0, (positions[ranks - 1] + following[ranks]) / 2)
        broken += bool((np.interp(cover, edges, mass) > RISK * cover).any())
    return broken / len(u)


def other_guarantees() -> bool:
    """2,000 calibrations of each rule that guarantees something else: the share of runs that break it, or the mean."""
    kept = True

    def report(name: str, value: float, limit: float, error: float) -> None:
        nonlocal kept
        kept &= value <= limit + error
        print(f"{name:80} {value:.4f} of {limit:g} allowed", flush=True)

    for distribution in ("monotone", "confident errors", "flat just above"):
        rate, shares, joint = DISTRIBUTIONS[distribution], np.zeros(RUNS), np.zeros(RUNS)
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
        report(
            f"conformal_selection, {distribution}: mean share of errors",
            shares.mean(),
            RISK,
            3 * shares.std() / RUNS**0.5,
        )
        report(
            f"conformal_joint, {distribution}: mean of accepted and wrong",
            joint.mean(),
            0.02,
            3 * joint.std() / RUNS**0.5,
        )
    kept &= share_broken(
        "target_coverage 0.8", lambda rng: 1 - target_coverage(rng.random(500), coverage=0.8, delta=DELTA).value < 0.8
    )
    kept &= share_broken("minimal_cost: bound on the cost", lambda rng: _cost(rng, None))
    kept &= share_broken("minimal_cost: bound on the cost of a threshold fixed beforehand", lambda rng: _cost(rng, 0.4))
    for by in ("rejection_sampling", "betting"):
        kept &= share_broken(f"weighted_risk by {by}", lambda rng, b=by: _weighted(rng, b), runs=500)
    kept &= share_broken("group_thresholds, any of 2 groups", _groups)
    kept &= share_broken("risk_and_coverage, either", _risk_and_coverage)
    kept &= share_broken("joint_risk, overall or any of 2 groups", _joint)
    kept &= share_broken("trade_off, any of 4 risks", _trade_off)
    kept &= share_broken("recertify, stopped at the first certificate of up to 8 looks", _recertified, runs=500)
    kept &= share_broken("label_shift_bound at a tenth unknown", _label_shift)
    kept &= share_broken("calibrate(score='best') of 6 scores", _best, runs=500)
    return kept


def _cost(rng: np.random.Generator, threshold: float | None) -> bool:
    t = rng.random(600)
    e = (rng.random(600) < t**2).astype(float)
    if threshold is None:
        result = minimal_cost(1 - t, e, rejection=0.2, delta=DELTA)
    else:
        result = chow_threshold(1 - t - threshold, e, rejection=0.2, delta=DELTA)
    cover = min(1 - result.value - (threshold or 0.0), 1.0)
    return cover**3 / 3 + 0.2 * (1 - cover) > result.guarantee.certified


def _weighted(rng: np.random.Generator, by: Any) -> bool:
    x, t = rng.random(4000) < 0.3, rng.random(4000)
    e = (rng.random(4000) < np.where(x, 0.12 * t + 0.02, 0.02 * t)).astype(float)
    w = np.where(x, 2.0, 0.4 / 0.7)
    cover = min(1 - weighted_risk(1 - t, e, w, largest=2.0, risk=0.04, delta=DELTA, by=by).value, 1.0)
    return 0.6 * (0.02 + 0.06 * cover) + 0.4 * 0.01 * cover > 0.04


def _groups(rng: np.random.Generator) -> bool:
    t, g = rng.random(4000), np.arange(4000) % 2
    e = (rng.random(4000) < np.where(g == 0, 0.01 + 0.3 * t**2, 0.02 + 0.4 * t**2)).astype(float)
    thresholds = group_thresholds(1 - t, e, g, risk=0.06, delta=DELTA)
    a, b = (min(1 - thresholds[name].value, 1.0) for name in ("0", "1"))
    return 0.01 + 0.1 * max(a, 0.0) ** 2 > 0.06 or 0.02 + 0.4 / 3 * max(b, 0.0) ** 2 > 0.06


def _monotone(rng: np.random.Generator) -> tuple[Any, Any]:
    u = rng.random(N)
    return 1 - u, (rng.random(N) < DISTRIBUTIONS["monotone"](u)).astype(float)


def _risk_and_coverage(rng: np.random.Generator) -> bool:
    cover = min(1 - risk_and_coverage(*_monotone(rng), risk=RISK, coverage=0.5, delta=DELTA).value, 1.0)
    return cover < 0.5 or 0.01 + 0.1 * cover**2 > RISK


def _joint(rng: np.random.Generator) -> bool:
    u, g = rng.random(4000), (rng.random(4000) < 0.25).astype(int)
    e = (rng.random(4000) < np.where(g == 1, 0.02 + 0.35 * u**2, 0.01 + 0.1 * u**2)).astype(float)
    cover = min(1 - joint_risk(1 - u, e, g, risk=0.03, group_risk=0.06, delta=DELTA).value, 1.0)
    group_risk, rest_risk = 0.02 + 0.35 * cover**2 / 3, 0.01 + 0.1 * cover**2 / 3
    return group_risk > 0.06 or 0.25 * group_risk + 0.75 * rest_risk > 0.03


def _trade_off(rng: np.random.Generator) -> bool:
    pairs = trade_off(*_monotone(rng), risks=(0.02, 0.03, 0.04, 0.05), delta=DELTA)
    return any(0.01 + 0.1 * min(1 - t.value, 1.0) ** 2 > (t.guarantee.target or 0) for t in pairs)


def _table(rng: np.random.Generator, n: int, rate: Callable[[Any], Any]) -> Outputs:
    u = rng.random(n)
    return Outputs(confidences={"c": 1 - u}, errors=rng.random(n) < rate(u))


def _recertified(rng: np.random.Generator) -> bool:
    new, recertification = _table(rng, 6000, lambda u: 0.01 + 0.45 * u**2), Recertification.of(OLD, delta=DELTA)
    for labels in (200, 200, 250, 300, 400, 500, 600, 700):
        recertification = recertification.ask(new.confidence("c"), np.arange(6000), labels=labels)
        recertification = recertification.answer(
            recertification.pending, new.errors[np.array(recertification.pending).astype(int)]
        )
        if recertification.threshold is not None:
            return 0.01 + 0.15 * (1 - recertification.threshold.value) ** 2 > RISK
    return False


OLD = calibrate(_table(np.random.default_rng(0), 3000, lambda u: 0.3 * u**2), risk=RISK)


def _label_shift(rng: np.random.Generator) -> bool:
    bound = label_shift_bound(
        n=1000,
        accepted=int(accepted := rng.binomial(1000, 0.8)),
        errors=int(rng.binomial(accepted, 0.02)),
        n_out=200,
        accepted_out=int(rng.binomial(200, 0.3)),
        delta=DELTA,
    )
    return bound.at(0.1) < 0.0592


def _best(rng: np.random.Generator) -> bool:
    u = rng.random(N)
    names = {f"s{i}": 1 - u + (0.02 + 0.1 * i) * rng.normal(size=N) for i in reversed(range(6))}
    outputs = Outputs(confidences=names, errors=rng.random(N) < DISTRIBUTIONS["monotone"](u))
    selector = calibrate(outputs, score="best", risk=RISK, delta=DELTA)
    big = np.random.default_rng(int(rng.integers(2**31)))
    v = big.random(100_000)
    new = 1 - v + (0.02 + 0.1 * int(selector.score[1:])) * big.normal(size=len(v))
    accepted = new > selector.threshold.value
    return bool(DISTRIBUTIONS["monotone"](v)[accepted].mean() > RISK)


def labels_saved() -> bool:
    """Labels until three quarters of the coverage in reach are certified again: rows accepted of old, or any rows."""
    kept = True
    for slope in (0.45, 0.6, 0.8):
        in_reach = np.sqrt((RISK - 0.01) * 3 / slope)
        needed = {}
        for name, floor in (("accepted rows", None), ("any rows", -np.inf)):
            counts = [_labels_needed(seed, slope, floor, 0.75 * in_reach) for seed in range(60)]
            needed[name] = float(np.mean(counts))
        saving = 1 - needed["accepted rows"] / needed["any rows"]
        print(f"error rate 0.01 + {slope}u²: {needed}, {saving:.0%} saved", flush=True)
        kept &= saving > 0
    return kept


def _labels_needed(seed: int, slope: float, floor: float | None, goal: float) -> int:
    new = _table(np.random.default_rng([seed, 3]), 30_000, lambda u: 0.01 + slope * u**2)
    recertification = Recertification.of(OLD, floor=floor)
    while (recertification.threshold is None or 1 - recertification.threshold.value < goal) and len(
        recertification.ids
    ) < 13_000:
        labels = recertification.labels_to_next_look
        recertification = recertification.ask(new.confidence("c"), np.arange(30_000), labels=labels)
        recertification = recertification.answer(
            recertification.pending, new.errors[np.array(recertification.pending).astype(int)]
        )
    return len(recertification.ids)


def choosing() -> bool:
    """Coverage with the score chosen inside the guarantee against the best single one known beforehand, and a union."""
    gains: dict[str, list[float]] = {"best known": [], "chosen on a fifth": [], "each at a share of delta": []}
    for run in range(300):
        rng = np.random.default_rng([run, 17])
        u = rng.random(N)
        names = {f"s{i}": 1 - u + (0.02 + 0.1 * i) * rng.normal(size=N) for i in reversed(range(6))}
        errors = rng.random(N) < DISTRIBUTIONS["monotone"](u)
        outputs = Outputs(confidences=names, errors=errors)
        gains["best known"].append(_accepted(lambda o=outputs: calibrate(o, score="s0", risk=RISK, delta=DELTA)))
        gains["chosen on a fifth"].append(
            _accepted(lambda o=outputs: calibrate(o, score="best", risk=RISK, delta=DELTA))
        )
        gains["each at a share of delta"].append(
            max(_accepted(lambda o=outputs, s=s: calibrate(o, score=s, risk=RISK, delta=DELTA / 6)) for s in names)
        )
    for name, coverages in gains.items():
        print(f"{name:28} coverage {np.mean(coverages):.3f}")
    wide = float(np.mean(gains["chosen on a fifth"])) > float(np.mean(gains["each at a share of delta"])) - 0.02
    return wide & choosing_learned()


def choosing_learned(runs: int = 200) -> bool:
    """The same where errors are of two kinds, with and without the learned score among those to choose from."""
    results: dict[str, list[tuple[float, bool]]] = {"best, without learned": [], "best": []}
    for run in range(runs):
        rng = np.random.default_rng([run, 18])
        labelled, fresh = _two_kinds(rng, N), _two_kinds(rng, 10 * N)
        usual = [entry for entry in SCORES.values() if not entry.on_request and entry.objection(labelled) is None]
        for score, values in zip((usual, "best"), results.values(), strict=True):
            selector = calibrate(labelled, Risk(RISK, delta=DELTA, when_impossible="reject_all"), score=score)
            accepted = selector.accepts(fresh)
            values.append((accepted.mean(), accepted.any() and fresh.errors[accepted].mean() > RISK))
    shares = {name: np.mean(values, axis=0) for name, values in results.items()}
    for name, (coverage, broken) in shares.items():
        print(f"{name:28} coverage {coverage:.3f}  breaks {broken:.3f}")
    return all(broken <= DELTA + noise(DELTA, runs) for _, broken in shares.values())


def _two_kinds(rng: np.random.Generator, n: int) -> Outputs:
    """Ambiguous rows, which a margin sees, and faint ones of unknown classes, which an energy sees."""
    labels, unknown = rng.integers(3, size=n), rng.random(n) < 0.2
    logits = rng.normal(scale=1.5, size=(n, 3)) + 5 * np.eye(3)[labels]
    logits += (rng.normal(scale=2, size=n) - 5 * unknown - logits.max(axis=1))[:, None]
    return Outputs(logits=logits, labels=np.where(unknown, -1, labels))


def _accepted(rule: Callable[[], Any]) -> float:
    try:
        t = rule().threshold
    except NoSafeThresholdError:
        return 0.0
    return float(t.accepted / t.n)


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
        alarms = [delay for delay in delays if delay is not None]
        middle = f", median delay {np.median(alarms):.0f} samples" if alarms and not null else ""
        print(f"{name}: alarms {len(alarms) / runs:.3f}{middle}")
        kept &= not null or len(alarms) / runs <= 0.05 + noise(0.05, runs)

    def risk_at(rate: float) -> Callable[[int], Any]:
        return lambda n: rng.random(n) < rate

    risk, after = RiskMonitor(risk=0.05, delta=0.05), risk_at(0.02)
    report("risk 0.05 of guaranteed 0.05", lambda: risk, risk_at(0.05), null=True)
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
