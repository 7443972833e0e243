"""PAPE, weighted calibration: confidence calibrated on reference rows that are weighted to resemble the new ones."""

from abstain.monitor.estimates.case import ShiftCase
from abstain.monitor.estimates.cbpe import calibrated
from abstain.monitor.estimates.method import RiskMethod


def pape(case: ShiftCase, /) -> float:
    """As `cbpe`, the isotonic regression weighted by a domain classifier."""
    return float(calibrated(case.confidence, case.losses, case.ratio, case.new_confidence).mean())


PAPE = RiskMethod(
    name="pape",
    title="weighted calibration",
    assumption="at the same confidence, rows whose outputs look alike are wrong as often after the shift as before",
    reference="Białek et al., Estimating model performance under covariate shift without labels, 2024",
    estimate=pape,
)
