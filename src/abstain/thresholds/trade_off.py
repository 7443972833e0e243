"""Several target risks at once: what coverage each would have, any of them to be chosen after looking."""

from dataclasses import replace

from numpy.typing import ArrayLike

from abstain.thresholds.risk import RISKS, certified
from abstain.thresholds.sample import Sample, check_chance, check_target
from abstain.thresholds.step_down import largest_safe_rank
from abstain.thresholds.threshold import Threshold


def trade_off(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risks: tuple[float, ...] = RISKS,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> list[Threshold]:
    """The threshold for each of the ``risks`` that is in reach, lowest risk first, by `step_down`.

    All promises hold together with probability 1 − δ, each being tested at δ over their number: so one of them may be
    chosen after looking at all, which a target asked for after a look at the sample may not.
    """
    check_chance("delta", delta)
    if not risks or len(set(risks)) < len(risks):
        raise ValueError(f"`risks` must be different target risks, got {risks}.")
    for risk in risks:
        check_target("risks", risk)
    sample = Sample.of(confidence, losses, ids=ids, seed=seed)
    level = delta / len(risks)
    ranks = {risk: largest_safe_rank(sample, risk, level) for risk in sorted(risks)}
    together = f"one of {len(risks)} promises that hold together with probability {1 - delta:.4g}"
    found = [certified("step_down", sample, rank, risk=risk, delta=level) for risk, rank in ranks.items() if rank]
    return [replace(t, promise=t.promise.noting(together)) for t in found]
