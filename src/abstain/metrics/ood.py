"""How well confidence separates known samples from unknown ones: the metrics of out-of-distribution detection.

They ignore the classifier's mistakes; AURC on the mix is the metric of generalized selective classification.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import check_share
from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._names import check_name
from abstain.metrics.clusters import standard_error
from abstain.metrics.groups import Groups, Sides
from abstain.metrics.influence import Value
from abstain.metrics.metric import Metric, Need
from abstain.metrics.ranking import Ranking

Positive = Literal["in", "out"]
Convention = Literal["step", "trapezoid"]


def ood_auroc(conf_in: ArrayLike, conf_out: ArrayLike, /) -> float:
    """P(in > out) + ½P(in = out) for a random in- and out-of-distribution sample (AUROC).

    Parameters
    ----------
    conf_in : (n,) array
        Confidences of in-distribution samples.
    conf_out : (m,) array
        Confidences of the others.

    Returns
    -------
    float
        1 separates perfectly, ½ is a random score.

    Examples
    --------
    >>> ood_auroc([0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2])
    0.7
    """
    return auroc(_groups(conf_in, conf_out))


def ood_aupr(
    conf_in: ArrayLike, conf_out: ArrayLike, /, *, positive: Positive = "in", convention: Convention = "step"
) -> float:
    """Average precision with tied samples taken together (AUPR-in, or AUPR-out for ``positive="out"``).

    The two orientations are different numbers, and both depend on the share of the positives. With
    ``convention="trapezoid"`` the points are joined by straight lines from precision 1 at recall 0, as OpenOOD and
    pytorch-ood print it; no detector attains what is between two points.

    Parameters
    ----------
    conf_in : (n,) array
        Confidences of in-distribution samples.
    conf_out : (m,) array
        Confidences of the others.
    positive : {"in", "out"}
        Which samples are the positives.
    convention : str
        Which published definition; see above.

    Returns
    -------
    float
        1 separates perfectly.

    Examples
    --------
    >>> round(ood_aupr([0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2]), 10)
    0.8261904762
    """
    check_name("convention", convention, get_args(Convention))
    return aupr(_groups(conf_in, conf_out), positive, convention=convention)


def fpr_at_tpr(conf_in: ArrayLike, conf_out: ArrayLike, /, *, tpr: float = 0.95, positive: Positive = "in") -> float:
    """Share of the negatives kept at the threshold that keeps ``tpr`` of the positives (FPR@95TPR).

    With ``positive="out"`` it is the share of in-distribution samples lost when ``tpr`` of the others are found, which
    is what pytorch-ood prints, and OpenOOD as FPR95. Where samples tie, OpenOOD may print more: it looks among the
    points of scikit-learn's ROC curve that are left after those on a straight line have been dropped. That is not
    offered here.

    Parameters
    ----------
    conf_in : (n,) array
        Confidences of in-distribution samples.
    conf_out : (m,) array
        Confidences of the others.
    tpr : float
        The share of the positives that is kept.
    positive : {"in", "out"}
        Which samples are the positives.

    Returns
    -------
    float
        0 separates perfectly.

    Examples
    --------
    >>> round(fpr_at_tpr([0.9, 0.8, 0.7, 0.6, 0.3], [0.75, 0.6, 0.2]), 10)
    0.6666666667
    """
    return fpr(_groups(conf_in, conf_out), tpr, positive)


def auroc(groups: Groups, /) -> float:
    """AUROC of groups whose losses count the samples from outside."""
    outside_above = np.cumsum(groups.losses) - groups.losses / 2  # those in a tie count half
    inside = groups.counts - groups.losses
    return float(1 - (inside * outside_above).sum() / (inside.sum() * groups.losses.sum()))


def aupr(groups: Groups, positive: Positive, /, *, convention: Convention = "step") -> float:
    """Average precision of groups whose losses count the samples from outside."""
    positives, all_counts = _oriented(groups, positive)
    precision = np.cumsum(positives) / np.cumsum(all_counts)
    if convention == "trapezoid":
        precision = (precision + np.r_[1.0, precision[:-1]]) / 2
    return float((precision * positives).sum() / positives.sum())


def fpr(groups: Groups, tpr: float, positive: Positive, /) -> float:
    """False positive rate at a true positive rate of groups whose losses count the samples from outside."""
    check_share("tpr", tpr)
    positives, all_counts = _oriented(groups, positive)
    last = int(np.searchsorted(np.cumsum(positives), ceil(tpr * positives.sum() - 1e-9)))
    others = all_counts - positives
    return float(others[: last + 1].sum() / others.sum())


def unknown_groups(ranking: Ranking, /) -> Groups:
    """The groups of a ranking, with those samples as losses whose label is negative: a class that is not known."""
    rows, groups = ranking.rows, ranking.groups
    if rows.labels is None or rows.weights is not None or not 0 < np.count_nonzero(rows.labels < 0) < len(rows):
        raise InvalidInputError("An OOD metric must have rows of known and of unknown classes, and no weights.")
    unknown = np.bincount(ranking.group[rows.labels < 0], minlength=len(groups.counts)).astype(np.float64)
    return replace(groups, losses=unknown, weights=groups.counts.astype(np.float64), is_counted=True)


def auroc_value(ranking: Ranking, _: float, /) -> Value:
    """AUROC of known against unknown classes, with its standard error (DeLong et al., 1988; clusters by their sums)."""
    groups, rows = unknown_groups(ranking), ranking.rows
    value, is_unknown = auroc(groups), np.asarray(rows.labels) < 0
    outside, inside = groups.losses, groups.counts - groups.losses
    beats = 1 - (np.cumsum(outside) - outside / 2) / outside.sum()
    loses = (np.cumsum(inside) - inside / 2) / inside.sum()
    apart = np.where(is_unknown, (loses[ranking.group] - value) / outside.sum(), 0.0)
    apart += np.where(is_unknown, 0.0, (beats[ranking.group] - value) / inside.sum())
    return Value(value, standard_error(apart * len(rows), rows.clusters))


def _groups(conf_in: ArrayLike, conf_out: ArrayLike) -> Groups:
    return Sides(_sorted("conf_in", conf_in), _sorted("conf_out", conf_out)).groups()


def _sorted(name: str, values: ArrayLike) -> Floats:
    side = np.array(values, dtype=np.float64)  # a copy, to be sorted
    if side.ndim != 1 or not side.size or np.isnan(side.max()):
        raise InvalidInputError(
            f"`{name}` must have shape (n,) with at least one sample and no NaN, got shape {side.shape}."
        )
    side.sort()
    return side


def _oriented(groups: Groups, positive: Positive) -> tuple[Floats, NDArray[np.int64]]:
    """The positives of each group and all of it, the most positive group first."""
    check_name("positive", positive, get_args(Positive), rule="be 'in' or 'out'")
    if positive == "in":
        return groups.counts - groups.losses, groups.counts
    return groups.losses[::-1], groups.counts[::-1]


def aupr_in_value(ranking: Ranking, _: float, /) -> Value:
    """AUPR of the known classes."""
    return Value(aupr(unknown_groups(ranking), "in"))


def aupr_out_value(ranking: Ranking, _: float, /) -> Value:
    """AUPR of the unknown classes."""
    return Value(aupr(unknown_groups(ranking), "out"))


def fpr_value(ranking: Ranking, tpr: float, /) -> Value:
    """False positive rate at a true positive rate of the known classes."""
    return Value(fpr(unknown_groups(ranking), tpr, "in"))


NEEDS: tuple[Need, ...] = ("classes", "unknown", "unweighted")
FPR = "False positive rate at true positive rate {}"
ENTRIES = (
    Metric("ood_auroc", "AUROC", "AUROC of unknown classes", "large", auroc_value, NEEDS),
    Metric("ood_aupr_in", "AUPR-in", "AUPR of known classes", "large", aupr_in_value, NEEDS),
    Metric("ood_aupr_out", "AUPR-out", "AUPR of unknown classes", "large", aupr_out_value, NEEDS),
    Metric("fpr_at_tpr", "FPR@TPR", FPR, "small", fpr_value, NEEDS, "tpr", 0.95),
)
