"""Estimates from the confidence of the new rows: ATC, CBPE and DoC."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from abstain._arrays import Floats
from abstain.monitor.estimates.case import RiskMethod, ShiftCase
from abstain.outputs import Outputs
from abstain.scores.logit_scores import MaxSoftmax

CERTAIN = 1e300  # stands for an infinite confidence


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


def share_below(known: Floats, new: Floats, share: float, /) -> float:
    """The share of ``new`` below the value that ``share`` of ``known`` are below; ties are counted in proportion.

    >>> share_below(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 1.5, 3.5, 4.5]), 0.5)
    0.5
    >>> share_below(np.array([1.0, 1.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0, 2.0]), 0.5)
    0.5
    """
    ordered = np.sort(known)
    count = share * len(ordered)
    value = ordered[max(0, int(np.ceil(count - 1e-9)) - 1)]
    below, up_to = np.searchsorted(ordered, value, "left"), np.searchsorted(ordered, value, "right")
    of_ties = (count - below) / (up_to - below)
    return float(np.mean(new < value) + max(0.0, of_ties) * np.mean(new == value))


def cbpe(case: ShiftCase, /) -> float:
    """The mean chance of being wrong of the new rows, by isotonic regression on the reference rows."""
    return float(calibrated(case.confidence, case.losses, None, case.new_confidence).mean())


def calibrated(confidence: Floats, losses: Floats, weights: Floats | None, new: Floats, /) -> Floats:
    """(m,) the mean loss at each new confidence: falling in confidence, linear between the reference rows' values."""
    values, number = np.unique(confidence, return_inverse=True)
    mass = np.bincount(number, weights=weights)
    mean = np.bincount(number, weights=losses if weights is None else losses * weights) / np.maximum(mass, 1e-300)
    fitted = isotonic_regression(mean, weights=np.maximum(mass, 1e-300), increasing=False).x
    return np.interp(np.clip(new, -CERTAIN, CERTAIN), np.clip(values, -CERTAIN, CERTAIN), fitted)


CBPE = RiskMethod(
    name="cbpe",
    title="calibrated confidence",
    assumption="at the same confidence as many rows are wrong after the shift as before",
    reference="Confidence-based performance estimation, NannyML; isotonic regression of the selector's own score",
    estimate=cbpe,
)


def doc(case: ShiftCase, /) -> float:
    """The risk of the reference rows, and by how much the mean largest softmax probability has fallen."""
    return case.risk + float(_largest(case.reference).mean() - _largest(case.new).mean())


def _largest(rows: Outputs) -> NDArray[np.float64]:
    score = MaxSoftmax()
    return np.asarray(score.literal(score.of(rows.logits)))


DOC = RiskMethod(
    name="doc",
    title="difference of confidences",
    assumption="softmax probabilities are as far from calibrated after the shift as before",
    reference="Guillory et al., Predicting with confidence on unseen distributions, ICCV 2021",
    estimate=doc,
    needs_classes=True,
)
