"""Weights under which every true class counts the same, however rare it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from abstain._arrays import Floats
from abstain._errors import InvalidInputError
from abstain._kernels.sums import exact_sums
from abstain.metrics.augrc import generalized_area
from abstain.metrics.aurc import area
from abstain.metrics.checks import check_labels
from abstain.metrics.clusters import standard_error
from abstain.metrics.influence import Influence, Value, area_value, augrc_influence, aurc_influence
from abstain.metrics.metric import Metric, Need
from abstain.metrics.operating_points import coverage_value, risk_value
from abstain.metrics.ranking import Ranking


def class_weights(labels: ArrayLike, /) -> Floats:
    """(n,) the weight n/(K n_y) of each sample, for the K classes that are there: the ``weights`` of any metric.

    The risk at full coverage is then the mean of the classes' error rates, 1 − balanced accuracy, and coverage the mean
    of the classes' coverages. Unknown classes, with negative labels, count as classes too.

    Parameters
    ----------
    labels : (n,) array of int
        True classes; negative for a class the classifier does not know.

    Returns
    -------
    (n,) array
        The ``weights`` of any metric.

    Examples
    --------
    >>> class_weights([0, 0, 0, 1])
    array([0.66666667, 0.66666667, 0.66666667, 2.        ])
    """
    y = np.asarray(labels)
    _, index, counts = np.unique(check_labels(y, y.size), return_inverse=True, return_counts=True)
    return np.asarray((y.size / (len(counts) * counts))[index])


def balanced(ranking: Ranking, /) -> Ranking:
    """The same ranking with class weights."""
    rows = ranking.rows
    if rows.labels is None or rows.weights is not None:
        raise InvalidInputError(
            "A class-balanced metric must have labels and no weights of its own. Pass labels= to SampleRows.of."
        )
    return replace(ranking, rows=replace(rows, weights=class_weights(rows.labels)))


def balanced_aurc(ranking: Ranking, alpha: float, /) -> Value:
    """Class-balanced AURC-α with its standard error."""
    each = balanced(ranking)
    influence = aurc_influence(each, alpha=alpha)
    return area_value(area(each.groups, alpha=alpha), influence, se=_se(each, influence))


def balanced_augrc(ranking: Ranking, _: float, /) -> Value:
    """Class-balanced AUGRC with its standard error."""
    each = balanced(ranking)
    influence = augrc_influence(each)
    return area_value(generalized_area(each.groups), influence, se=_se(each, influence))


def _se(ranking: Ranking, influence: Influence) -> float:
    """Only what varies within the classes counts: the weights have fixed the classes' shares."""
    _, index, counts = np.unique(np.asarray(ranking.rows.labels), return_inverse=True, return_counts=True)
    means = exact_sums(influence.centred, index, len(counts)) / counts
    return standard_error(influence.centred - means[index], ranking.rows.clusters)


def balanced_risk(ranking: Ranking, coverage: float, /) -> Value:
    """Class-balanced risk at a coverage."""
    return risk_value(balanced(ranking), coverage)


def balanced_coverage(ranking: Ranking, risk: float, /) -> Value:
    """Class-balanced coverage at a risk."""
    return coverage_value(balanced(ranking), risk)


NEEDS: tuple[Need, ...] = ("classes", "unweighted")
AREA = "Class-balanced AURC, coverages up to {}"
ENTRIES = (
    Metric("balanced_aurc", "bAURC-α", AREA, "small", balanced_aurc, NEEDS, "alpha"),
    Metric("balanced_augrc", "bAUGRC", "Class-balanced AUGRC", "small", balanced_augrc, NEEDS),
    Metric(
        "balanced_risk_at_coverage",
        "bR(c)",
        "Class-balanced risk at coverage {}",
        "small",
        balanced_risk,
        NEEDS,
        "coverage",
        0.8,
    ),
    Metric(
        "balanced_coverage_at_risk",
        "bC(r)",
        "Class-balanced coverage at risk {}",
        "large",
        balanced_coverage,
        NEEDS,
        "risk",
        0.05,
    ),
)
