"""Whether guarantees made on one half of the rows are kept on the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain._draws import coarse, generator
from abstain.metrics.slices import ShareEstimate, share
from abstain.outputs.rows import draw_rows
from abstain.thresholds import NoSafeThresholdError
from abstain.thresholds.baselines import bonferroni
from abstain.thresholds.target_risk import target_risk

MANY = 3000  # rows without ids, from which on so many guarantees take long by the usual rule, and another is as good
TARGETS = tuple(round(0.1 * step, 1) for step in range(1, 11))  # of the risk at full coverage


@dataclass(frozen=True)
class GuaranteeCheck:
    """A threshold certified on one half, and what came of it on the other."""

    target: float
    bound: float
    """The risk that was certified."""
    coverage: float
    """The share accepted on the other half."""
    realised: ShareEstimate
    """The risk there."""


def kept_guarantees(
    confidence: NDArray[np.float64],
    errors: NDArray[np.bool_],
    /,
    *,
    ids: NDArray[np.generic] | None = None,
    risks: Sequence[float] | None = None,
    delta: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
) -> list[GuaranteeCheck]:
    """For each of the ``risks`` that can be certified, by default tenths of the risk at full coverage, lowest first.

    Each guarantee holds for itself with probability 1 − δ over the half that it was made on; the halves are drawn by
    ``seed``, whole clusters at a time. The interval is of what was realised, which is a sample too.
    """
    half = draw_rows(
        len(errors),
        ids,
        size=len(errors) / 2,
        rng=generator("halves of guarantees", seed, coarse(confidence), errors, ids),
    )
    names = (None, None) if ids is None else (ids[half], ids[~half])
    rule = target_risk if ids is not None or np.count_nonzero(half) <= MANY else bonferroni
    whole = float(errors[half].mean())
    checks = []
    for risk in sorted(risks or (step * whole for step in TARGETS)):
        if not 0 < risk < 1:
            continue
        try:
            threshold = rule(confidence[half], errors[half], risk=risk, delta=delta, ids=names[0])
        except NoSafeThresholdError:
            continue
        accepted = confidence[~half] > threshold.value
        if accepted.any():
            kept = None if names[1] is None else names[1][accepted]
            realised = share(errors[~half][accepted], ids=kept, level=level)
            checks.append(GuaranteeCheck(risk, threshold.guarantee.certified, float(accepted.mean()), realised))
    return checks
