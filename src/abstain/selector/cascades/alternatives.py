"""What a cascade costs on some rows, and what each model alone and a person would, certified at the same risk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from abstain.outputs import Outputs
from abstain.selector.calibrate import calibrate
from abstain.selector.cascades.cascade import PERSON, Cascade
from abstain.selector.targets.risk import Risk
from abstain.thresholds.refusal import NoSafeThresholdError


@final
@dataclass(frozen=True)
class Alternative:
    """A way to answer all rows: who answers which share of them, and the mean cost of a row."""

    name: str
    cost: float
    shares: dict[str, float]
    """Of the rows, by who answers them."""


def alternatives(
    cascade: Cascade, outputs: Sequence[Outputs], /, *, risk: float, delta: float, seed: int = 0
) -> tuple[Alternative, ...]:
    """The cascade, each of its models alone at the same certified risk, and a person for all rows.

    The costs are those observed on these rows. Each model alone is certified on all of them.
    """
    combined = cascade.combined(outputs)
    accepted, stage = cascade.selector.accepts(combined), cascade.numbers_of(combined)
    shares = {name: float(np.mean(accepted & (stage == number))) for number, name in enumerate(cascade.names)}
    whole = Alternative(
        "cascade", float(cascade.costs_of(combined).mean()), shares | {PERSON: max(0.0, 1 - sum(shares.values()))}
    )
    matched = cascade.matched(outputs)
    alone = []
    for number, each in enumerate(cascade.stages):
        try:
            t = calibrate(matched.of_stage(number), Risk(risk, delta=delta), score=each.entry, seed=seed).threshold
            share = t.accepted / t.n
        except NoSafeThresholdError:
            share = 0.0
        cost = each.cost + cascade.human_cost * (1 - share) if share else cascade.human_cost
        alone.append(Alternative(f"{each.name} alone", cost, {each.name: share, PERSON: 1 - share}))
    return (whole, *alone, Alternative(f"a {PERSON} alone", cascade.human_cost, {PERSON: 1.0}))
