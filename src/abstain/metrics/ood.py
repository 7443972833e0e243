"""How well confidence separates known samples from unknown ones: the metrics of out-of-distribution detection.

They ignore the classifier's mistakes; AURC on the mix is the metric of generalized selective classification.
"""

from math import ceil
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.metrics.ranking import check_share, rank
from abstain.names import check_name

Floats = NDArray[np.float64]
Positive = Literal["in", "out"]
Convention = Literal["step", "trapezoid"]


def ood_auroc(conf_in: ArrayLike, conf_out: ArrayLike, /) -> float:
    """P(in > out) + ½P(in = out) for a random in- and out-of-distribution sample (AUROC).

    >>> ood_auroc([0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2])
    0.7
    """
    inside, outside = _sides(conf_in, conf_out)
    ranking = rank(np.concatenate([inside, outside]), np.repeat([0, 1], [len(inside), len(outside)]))
    outside_above = np.cumsum(ranking.losses) - ranking.losses / 2  # those in a tie count half
    losing = ((ranking.counts - ranking.losses) * outside_above).sum()
    return float(1 - losing / (len(inside) * len(outside)))


def ood_aupr(
    conf_in: ArrayLike, conf_out: ArrayLike, /, *, positive: Positive = "in", convention: Convention = "step"
) -> float:
    """Average precision with tied samples taken together (AUPR-in, or AUPR-out for ``positive="out"``).

    The two orientations are different numbers, and both depend on the share of the positives. With
    ``convention="trapezoid"`` the points are joined by straight lines from precision 1 at recall 0, as OpenOOD and
    pytorch-ood print it; no detector attains what is between two points.

    >>> round(ood_aupr([0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2]), 10)
    0.8261904762
    """
    check_name("convention", convention, get_args(Convention))
    found, other = _oriented(conf_in, conf_out, positive)
    is_positive = np.repeat([1.0, 0.0], [len(found), len(other)])
    ranking = rank(np.concatenate([found, other]), is_positive)
    precision = np.cumsum(ranking.losses) / np.cumsum(ranking.counts)
    if convention == "trapezoid":
        precision = (precision + np.r_[1.0, precision[:-1]]) / 2
    return float((precision * ranking.losses).sum() / len(found))


def fpr_at_tpr(conf_in: ArrayLike, conf_out: ArrayLike, /, *, tpr: float = 0.95, positive: Positive = "in") -> float:
    """Share of the negatives kept at the threshold that keeps ``tpr`` of the positives (FPR@95TPR).

    With ``positive="out"`` it is the share of in-distribution samples lost when ``tpr`` of the others are found, which
    is what pytorch-ood prints, and OpenOOD as FPR95. Where samples tie, OpenOOD may print more: it looks among the
    points of scikit-learn's ROC curve that are left after those on a straight line have been dropped. That is not
    offered here.

    >>> round(fpr_at_tpr([0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2]), 10)
    0.6666666667
    """
    check_share("tpr", tpr)
    found, other = _oriented(conf_in, conf_out, positive)
    threshold = np.sort(found)[-ceil(tpr * len(found) - 1e-9)]
    return float(np.mean(other >= threshold))


def _sides(conf_in: ArrayLike, conf_out: ArrayLike) -> tuple[Floats, Floats]:
    sides = []
    for name, values in (("conf_in", conf_in), ("conf_out", conf_out)):
        side = np.asarray(values, dtype=np.float64)
        if side.ndim != 1 or not side.size or np.isnan(side).any():
            raise ValueError(
                f"`{name}` must have shape (n,) with at least one sample and no NaN, got shape {side.shape}."
            )
        sides.append(side)
    return sides[0], sides[1]


def _oriented(conf_in: ArrayLike, conf_out: ArrayLike, positive: Positive) -> tuple[Floats, Floats]:
    """Scores of the positives and of the negatives, higher = more positive."""
    inside, outside = _sides(conf_in, conf_out)
    check_name("positive", positive, get_args(Positive), rule="be 'in' or 'out'")
    return (inside, outside) if positive == "in" else (-outside, -inside)
