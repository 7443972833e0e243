"""ATC, average thresholded confidence."""

from abstain.monitor.estimates.case import ShiftCase
from abstain.monitor.estimates.method import RiskMethod
from abstain.monitor.estimates.thresholded import share_below


def atc(case: ShiftCase, /) -> float:
    """The share of new rows below the confidence that as many reference rows are below as are wrong."""
    return share_below(case.confidence, case.new_confidence, case.risk)


ATC = RiskMethod(
    name="atc",
    title="average thresholded confidence",
    assumption="as many rows are wrong as are below one confidence, before and after the shift",
    reference="Garg et al., Leveraging unlabeled data to predict out-of-distribution performance, ICLR 2022",
    estimate=atc,
)
