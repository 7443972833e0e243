"""Estimates from reference rows weighted to resemble the new ones: importance weighting, PAPE and MaNo."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_softmax

from abstain._arrays import Floats
from abstain.monitor.estimates.case import RiskMethod, ShiftCase
from abstain.monitor.estimates.confidence import calibrated
from abstain.outputs import Outputs

NORM = 4  # of MaNo
UNCERTAIN = 5.0  # mean cross-entropy against the uniform distribution up to which the exponential is cut off
STEEPEST = 50.0  # tilt, in standard deviations of the statistic


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


def mano(case: ShiftCase, /) -> float:
    """The mean loss of the reference rows, tilted exponentially until their MaNo score is that of the new rows.

    The paper regresses accuracy on the score over many labelled data sets, of which there are none here; the score
    grows with the mean of a number for each row, so that reference rows can be weighted to have any score in between.
    """
    shortened = _is_uncertain(case.new)
    known, new = (_powers(rows, shortened) for rows in (case.reference, case.new))
    spread = float(known.std())
    if not spread:
        return case.risk
    z, aim = (known - known.mean()) / spread, float((new.mean() - known.mean()) / spread)
    return float(np.average(case.losses, weights=_tilted(z, _tilt(z, aim))))


def _tilt(z: Floats, aim: float) -> float:
    """The exponent for which the weighted mean of z is ``aim``, or the steepest."""
    ends = [float(np.average(z, weights=_tilted(z, side))) - aim for side in (-STEEPEST, STEEPEST)]
    if ends[0] >= 0 or ends[1] <= 0:
        return -STEEPEST if ends[0] >= 0 else STEEPEST
    return float(brentq(lambda tilt: np.average(z, weights=_tilted(z, tilt)) - aim, -STEEPEST, STEEPEST, xtol=1e-9))


def _tilted(z: Floats, tilt: float) -> Floats:
    exponent = tilt * z
    return np.asarray(np.exp(exponent - exponent.max()))


def _is_uncertain(rows: Outputs) -> bool:
    """Whether logits are normalised by the first terms of the exponential, as the paper does for uncertain networks."""
    if rows.are_log_probabilities or rows.is_masked:
        return False
    return bool(-log_softmax(rows.logits.astype(np.float64), axis=1).mean() <= UNCERTAIN)


def _powers(rows: Outputs, shortened: bool) -> Floats:
    """(n,) the mean p-th power of each row's normalised logits, whose mean is the p-th power of the MaNo score."""
    z = rows.logits.astype(np.float64)
    if shortened:
        terms = 1 + z + z**2 / 2
        normalised = terms / terms.sum(axis=1, keepdims=True)
    else:
        normalised = np.exp(log_softmax(z, axis=1))
    return np.asarray((normalised**NORM).mean(axis=1))


MANO = RiskMethod(
    name="mano",
    title="matrix norm of the logits",
    assumption="accuracy depends on the norm of the normalised logits after the shift as among the reference rows",
    reference="Xie et al., MaNo, NeurIPS 2024; its regression over labelled shifts replaced by exponential tilting",
    estimate=mano,
    needs_classes=True,
)
