"""Reference rows weighted by a domain classifier (importance weighting)."""

import numpy as np

from abstain.monitor.estimates.case import ShiftCase
from abstain.monitor.estimates.method import RiskMethod


def weighted(case: ShiftCase, /) -> float:
    """The mean loss of the reference rows, each weighted by how much more frequent it is among the new ones."""
    return float(np.average(case.losses, weights=case.ratio))


WEIGHTS = RiskMethod(
    name="weights",
    title="weights of a domain classifier",
    assumption="rows whose outputs look alike are wrong as often after the shift as before",
    reference="Shimodaira, Journal of Statistical Planning and Inference, 2000; Chen et al., Mandoline, ICML 2021",
    estimate=weighted,
)
