"""The threshold that accepts nothing, and so keeps any risk."""

from math import inf

from abstain.thresholds.promise import RISK, Promise
from abstain.thresholds.sample import rows_like
from abstain.thresholds.threshold import Threshold

NOTHING = "no threshold could be certified for it, so that every row is rejected"


def reject_all(n: int, /, *, risk: float, delta: float) -> Threshold:
    """What is left where ``n`` rows certify no threshold for a risk."""
    promise = Promise(quantity=RISK, target=risk, probability=1 - delta, distribution=rows_like(n), caveats=(NOTHING,))
    return Threshold(value=inf, method="reject_all", n=n, accepted=0, errors=0.0, promise=promise)
