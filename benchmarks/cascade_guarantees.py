"""Guarantees of cascades over 2,000 calibrations through `abstain.cascade`, its seed fixed and the data new.

What the large model gets wrong, the small one nearly always does. A case breaks where a true risk, which a population
of 20,000 rows shows, is above its target: that of all answers or, where asked for, that of the answers of a stage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from guarantees import noise
from scipy.special import bdtr, expit

from abstain import JointRisk, Outputs, Risk, cascade
from abstain.thresholds import NoSafeThresholdError, step_down

RUNS, N, RISK, STAGE_RISK, DELTA, POPULATION = 2000, 1000, 0.05, 0.07, 0.1, 20_000
Pair = tuple[Any, Any]
"""(n, 2) confidences and errors of both models."""


def dependent(rng: np.random.Generator, n: int) -> Pair:
    """Models whose errors share their cause and their luck."""
    hardness, common = rng.normal(size=n), rng.random(n)
    confidence = np.column_stack([2.0 - 1.6 * hardness, 3.2 - 1.3 * hardness]) + 0.8 * rng.normal(size=(n, 2))
    return confidence, common[:, None] < expit(-np.array([1.3, 1.5]) * confidence)


def flat(rng: np.random.Generator, n: int) -> Pair:
    """Confidences that say nothing, and models that are wrong together, slightly too often: nothing is safe."""
    wrong = rng.random(n) < 1.02 * RISK
    other = np.where(rng.random(n) < 0.9, wrong, rng.random(n) < 1.02 * RISK)
    return rng.random((n, 2)), np.column_stack([wrong, other])


def outputs_of(confidence: Any, errors: Any, ids: Any = None) -> list[Outputs]:
    """One for each model."""
    return [Outputs(confidences={"own": confidence[:, stage]}, errors=errors[:, stage], ids=ids) for stage in range(2)]


@final
@dataclass(frozen=True)
class Case:
    """A target, and the rows it is simulated on."""

    target: Risk | JointRisk
    draw: Callable[[np.random.Generator, int], Pair]
    stage_risk: float | None = None
    most: int = 1
    """Rows of a cluster, by chance this many copies or one."""

    def rows(self, seed: list[int], n: int) -> list[Outputs]:
        """Of n rows or clusters."""
        rng = np.random.default_rng(seed)
        sample = self.draw(rng, n)
        if self.most == 1:
            return outputs_of(*sample)
        number = np.repeat(np.arange(n), np.where(rng.random(n) < 0.3, self.most, 1))
        return outputs_of(*(each[number] for each in sample), np.char.add("sample-", number.astype(str)))

    def breaks(self, population: list[Outputs], run: int) -> tuple[bool, float]:
        """Whether a risk is above its target, and the share of rows answered."""
        made = cascade(self.rows([run, 30], N), self.target, costs=[1, 20], human_cost=200)
        combined = made.combined(population)
        accepted, stage = made.selector.accepts(combined), made.numbers_of(combined)
        limits = [(accepted, RISK)]
        if self.stage_risk is not None:
            limits += [(accepted & (stage == number), self.stage_risk) for number in range(2)]
        above = [rows.any() and combined.errors[rows].mean() > limit for rows, limit in limits]
        return any(above), float(accepted.mean())


KNOWN: dict[str, Any] = {"delta": DELTA, "when_impossible": "reject_all"}
CASES = {
    "all answers together": Case(Risk(RISK, **KNOWN), dependent),
    "all answers, and those of each stage": Case(
        JointRisk(RISK, STAGE_RISK, per="domain", **KNOWN), dependent, STAGE_RISK
    ),
    "clusters of 1 or 8 copies": Case(Risk(RISK, **KNOWN), dependent, most=8),
    "error rate flat, just above the target": Case(Risk(RISK, **KNOWN), flat),
}


def cascade_guarantees() -> bool:
    """The share of runs that break, and the mean share of rows answered; then what rules without a proof do."""
    kept = True
    for name, case in CASES.items():
        population = case.rows([0, 31], POPULATION)
        broken, answered = np.mean([case.breaks(population, run) for run in range(RUNS)], axis=0)
        print(f"{name:50} breaks {broken:.4f}  answers {answered:.3f}", flush=True)
        kept &= bool(broken <= DELTA + noise(DELTA, RUNS))
    for name, (rule, draw) in NAIVE.items():
        confidence, errors = draw(np.random.default_rng([0, 31]), POPULATION)
        broken = np.mean(
            [_is_broken(rule(*draw(np.random.default_rng([run, 30]), N)), confidence, errors) for run in range(RUNS)]
        )
        print(f"{name:50} breaks {broken:.4f}", flush=True)
    return kept


def _is_broken(thresholds: tuple[float, float], confidence: Any, errors: Any) -> bool:
    first = confidence[:, 0] > thresholds[0]
    answered = first | (confidence[:, 1] > thresholds[1])
    return bool(answered.any() and np.where(first, errors[:, 0], errors[:, 1])[answered].mean() > RISK)


def _tuned(confidence: Any, errors: Any) -> tuple[float, float]:
    """The pair of thresholds that answers most among those that pass an exact test on the same rows."""
    grid = np.quantile(confidence, np.linspace(0, 0.98, 25), axis=0)
    first, last = (confidence[:, stage] > grid[:, stage, None] for stage in (0, 1))
    either = first[:, None] | last[None]
    wrong = np.where(first[:, None], errors[:, 0], errors[:, 1]) & either
    n = either.sum(axis=2)
    passes = bdtr(wrong.sum(axis=2), np.maximum(n, 1), RISK) <= DELTA
    best = np.unravel_index(np.argmax(np.where(passes, n, 0)), n.shape)
    return (grid[best[0], 0], grid[best[1], 1]) if passes.any() else (np.inf, np.inf)


def _each_by_itself(confidence: Any, errors: Any) -> tuple[float, float]:
    """The threshold that is certified for each model alone, at half of δ."""

    def value(stage: int) -> float:
        try:
            return step_down(confidence[:, stage], errors[:, stage], risk=RISK, delta=DELTA / 2).value
        except NoSafeThresholdError:
            return np.inf

    return value(0), value(1)


NAIVE = {
    "tuned on the rows that certify, flat (invalid)": (_tuned, flat),
    "each model by itself at δ/2 (invalid)": (_each_by_itself, dependent),
}
