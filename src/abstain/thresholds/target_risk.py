"""The default for a target risk, by what is known of the rows."""

import numpy as np
from numpy.typing import ArrayLike

from abstain.thresholds.betting_sequence import betting
from abstain.thresholds.step_down import step_down
from abstain.thresholds.threshold import Threshold


def target_risk(
    confidence: ArrayLike,
    losses: ArrayLike,
    /,
    *,
    risk: float,
    delta: float = 0.05,
    ids: ArrayLike | None = None,
    seed: int = 0,
) -> Threshold:
    """The threshold with selective risk at most ``risk`` in the distribution of rows, with probability 1 − δ.

    `step_down` where every row is independent, `betting` where rows with the same ``ids`` form clusters.
    """
    clustered = ids is not None and len(np.unique(np.asarray(ids))) < np.size(ids)
    rule = betting if clustered else step_down
    return rule(confidence, losses, risk=risk, delta=delta, ids=ids, seed=seed)
