"""DoC, the difference of confidences."""

import numpy as np
from numpy.typing import NDArray

from abstain.monitor.estimates.case import ShiftCase
from abstain.monitor.estimates.method import RiskMethod
from abstain.outputs import Outputs
from abstain.scores.logit_scores import MaxSoftmax


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
