"""Whether promises made on one half of the rows are kept on the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain.draws import coarse, generator
from abstain.metrics.share import Share, share
from abstain.outputs.draw import draw_rows
from abstain.thresholds import NoSafeThresholdError
from abstain.thresholds.bonferroni import bonferroni
from abstain.thresholds.target_risk import target_risk

MANY = 3000  # rows without ids, from which on so many promises take long by the usual rule, and another is as good
TARGETS = tuple(round(0.1 * step, 1) for step in range(1, 11))  # of the risk at full coverage


@dataclass(frozen=True)
class Kept:
    """A threshold certified on one half, and what came of it on the other."""

    target: float
    bound: float
    """The risk that was certified."""
    coverage: float
    """The share accepted on the other half."""
    realised: Share
    """The risk there."""


def kept_promises(
    confidence: NDArray[np.float64],
    errors: NDArray[np.bool_],
    /,
    *,
    ids: NDArray[np.generic] | None = None,
    risks: Sequence[float] | None = None,
    delta: float = 0.05,
    level: float = 0.95,
    seed: int = 0,
) -> list[Kept]:
    """For each of the ``risks`` that is in reach, by default tenths of the risk at full coverage, lowest first.

    Each promise holds for itself with probability 1 − δ over the half that it was made on; the halves are drawn by
    ``seed``, whole clusters at a time. The interval is of what was realised, which is a sample too.
    """
    half = draw_rows(
        len(errors),
        ids,
        size=len(errors) / 2,
        rng=generator("halves of promises", seed, coarse(confidence), errors, ids),
    )
    names = (None, None) if ids is None else (ids[half], ids[~half])
    rule = target_risk if ids is not None or np.count_nonzero(half) <= MANY else bonferroni
    whole = float(errors[half].mean())
    found = []
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
            found.append(Kept(risk, threshold.promise.certified, float(accepted.mean()), realised))
    return found
