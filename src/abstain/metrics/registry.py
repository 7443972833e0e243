"""The metrics by name: what each needs of the rows, which way is better, and how it is measured on a ranking."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import check_number
from abstain._names import called, check_name
from abstain._text import percent
from abstain.metrics.augrc import augrc_value
from abstain.metrics.class_balanced import balanced, balanced_augrc, balanced_aurc
from abstain.metrics.excess_aurc import excess_value
from abstain.metrics.groups import Groups
from abstain.metrics.influence import Value, mean_value
from abstain.metrics.intervals import aurc_value
from abstain.metrics.ood import aupr, auroc_value, fpr, unknown_groups
from abstain.metrics.operating_points import coverage_at, risk_at
from abstain.metrics.prediction_rejection import accuracy_value, auarc_value, ratio_value
from abstain.metrics.ranking import Ranking, SampleRows
from abstain.metrics.softmax import Softmax, brier_rows, log_loss_rows, softmax_calibration_error

Need = Literal["classes", "softmax", "known", "unknown", "unweighted", "varied"]
_LIKELIHOOD: tuple[Need, ...] = ("classes", "softmax", "known")
_CALIBRATION: tuple[Need, ...] = ("classes", "softmax", "unweighted")
_BALANCED: tuple[Need, ...] = ("classes", "unweighted")
_OOD: tuple[Need, ...] = ("classes", "unknown", "unweighted")


@dataclass(frozen=True)
class Metric:
    """A metric of a ranking; the metrics of the softmax are the same for every ranking of the same rows.

    Attributes
    ----------
    name : str
        What people type.
    symbol : str
        How the literature writes it.
    words : str
        What it is in plain words, with ``{}`` for the value of the parameter.
    better : {"small", "large"}
        Whether small or large values are better.
    measure : function
        The value of a ranking at a value of the parameter.
    needs : tuple of Need
        What the rows must have besides losses: ``classes`` (labels), ``softmax`` (logits), only ``known`` classes, some
        rows of ``unknown`` ones, no weights, or ``varied`` losses.
    parameter : str or None
        What ``at`` is, if the metric has a parameter.
    default : float
        The value of the parameter where none is asked for.
    """

    name: str
    symbol: str
    words: str
    better: Literal["small", "large"]
    measure: Callable[[Ranking, float], Value]
    needs: tuple[Need, ...] = ()
    parameter: str | None = None
    default: float = 1.0

    def __call__(self, ranking: Ranking, /, *, at: float | None = None) -> Value:
        """Measure a ranking at a value of the parameter, or at its default."""
        return self.measure(ranking, self.default if at is None else at)

    def title(self, *, at: float | None = None) -> str:
        """What it is in plain words, at a value of the parameter or at its default.

        >>> METRICS["risk_at_coverage"].title(at=0.9)
        'Risk at coverage 90%'
        """
        return self.words.format(percent(self.default if at is None else at))

    def objection(self, rows: SampleRows, /) -> str | None:
        """Why the rows do not allow this metric, in words that follow "the rows have"; None if they do."""
        return next((words for need in self.needs if (words := _OBJECTIONS[need](rows))), None)


def _unknown(rows: SampleRows) -> int:
    return 0 if rows.labels is None else int(np.count_nonzero(rows.labels < 0))


_OBJECTIONS: dict[Need, Callable[[SampleRows], str | None]] = {
    "classes": lambda rows: "no labels" if rows.labels is None else None,
    "softmax": lambda rows: "no logits" if rows.logits is None else None,
    "known": lambda rows: "some unknown classes" if _unknown(rows) else None,
    "unweighted": lambda rows: None if rows.weights is None else "weights",
    "varied": lambda rows: "the same loss everywhere" if np.ptp(rows.losses) == 0 else None,
    "unknown": lambda rows: None if 0 < _unknown(rows) < len(rows) else "not both known and unknown classes",
}


def _point(of_groups: Callable[[Groups, float], float]) -> Callable[[Ranking, float], Value]:
    return lambda ranking, at: Value(of_groups(ranking.groups, at))


def _balanced(of_groups: Callable[[Groups, float], float]) -> Callable[[Ranking, float], Value]:
    return lambda ranking, at: Value(of_groups(balanced(ranking).groups, at))


def _ood(of_groups: Callable[[Groups, float], float]) -> Callable[[Ranking, float], Value]:
    return lambda ranking, at: Value(of_groups(unknown_groups(ranking), at))


def _softmax_mean(of_rows: Callable[[Softmax, NDArray[np.int64]], NDArray[np.float64]]) -> Callable[..., Value]:
    def measure(ranking: Ranking, _at: float) -> Value:
        rows = ranking.rows
        return mean_value(of_rows(rows.softmax, np.asarray(rows.labels)), rows.weights, rows.clusters)

    return measure


def _calibration_error(binning: Literal["equal_mass", "equal_width"]) -> Callable[..., Value]:
    def measure(ranking: Ranking, _at: float) -> Value:
        rows = ranking.rows
        return Value(softmax_calibration_error(rows.softmax, np.asarray(rows.labels), binning=binning))

    return measure


_ALL = (
    Metric("aurc", "AURC-α", "AURC, coverages up to {}", "small", aurc_value, parameter="alpha"),
    Metric("augrc", "AUGRC", "AUGRC", "small", lambda r, _: augrc_value(r)),
    Metric("excess_aurc", "E-AURC-α", "Excess AURC, coverages up to {}", "small", excess_value, parameter="alpha"),
    Metric(
        "risk_at_coverage", "R(c)", "Risk at coverage {}", "small", _point(risk_at), parameter="coverage", default=0.8
    ),
    Metric(
        "coverage_at_risk", "C(r)", "Coverage at risk {}", "large", _point(coverage_at), parameter="risk", default=0.05
    ),
    Metric(
        "prr",
        "PRR",
        "Prediction rejection ratio, rejecting up to {}",
        "large",
        ratio_value,
        ("unweighted", "varied"),
        parameter="max_rejection",
    ),
    Metric("auarc", "AUARC", "Area under the accuracy–rejection curve", "large", auarc_value),
    Metric(
        "accuracy_at_coverage",
        "A(c)",
        "Accuracy at coverage {}",
        "large",
        accuracy_value,
        parameter="coverage",
        default=0.8,
    ),
    Metric(
        "balanced_aurc",
        "bAURC-α",
        "Class-balanced AURC, coverages up to {}",
        "small",
        balanced_aurc,
        _BALANCED,
        parameter="alpha",
    ),
    Metric("balanced_augrc", "bAUGRC", "Class-balanced AUGRC", "small", lambda r, _: balanced_augrc(r), _BALANCED),
    Metric(
        "balanced_risk_at_coverage",
        "bR(c)",
        "Class-balanced risk at coverage {}",
        "small",
        _balanced(risk_at),
        _BALANCED,
        "coverage",
        0.8,
    ),
    Metric(
        "balanced_coverage_at_risk",
        "bC(r)",
        "Class-balanced coverage at risk {}",
        "large",
        _balanced(coverage_at),
        _BALANCED,
        "risk",
        0.05,
    ),
    Metric("brier_score", "Brier", "Brier score", "small", _softmax_mean(brier_rows), _LIKELIHOOD),
    Metric("log_loss", "NLL", "Log loss", "small", _softmax_mean(log_loss_rows), _LIKELIHOOD),
    Metric(
        "calibration_error",
        "ECE",
        "Calibration error, bins of equal mass",
        "small",
        _calibration_error("equal_mass"),
        _CALIBRATION,
    ),
    Metric(
        "calibration_error_width",
        "ECE-w",
        "Calibration error, bins of equal width",
        "small",
        _calibration_error("equal_width"),
        _CALIBRATION,
    ),
    Metric("ood_auroc", "AUROC", "AUROC of unknown classes", "large", lambda r, _: auroc_value(r), _OOD),
    Metric("ood_aupr_in", "AUPR-in", "AUPR of known classes", "large", _ood(lambda g, _: aupr(g, "in")), _OOD),
    Metric("ood_aupr_out", "AUPR-out", "AUPR of unknown classes", "large", _ood(lambda g, _: aupr(g, "out")), _OOD),
    Metric(
        "fpr_at_tpr",
        "FPR@TPR",
        "False positive rate at true positive rate {}",
        "small",
        _ood(lambda g, at: fpr(g, at, "in")),
        _OOD,
        "tpr",
        0.95,
    ),
)
METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}
"""Every metric by name, with what it needs; adding one takes a file, a line here and a test."""


def as_metric(asked: str, /) -> tuple[Metric, float]:
    """The metric of a name and the value of its parameter: ``augrc``, ``coverage_at_risk(risk=0.02)``."""
    name, options = called("metric", asked)
    check_name("metric", name, METRICS, rule="be a known metric", otherwise=f"There are {', '.join(METRICS)}.")
    metric = METRICS[name]
    for option, value in options.items():
        check_name(f"option of {name}", option, [] if metric.parameter is None else [metric.parameter])
        check_number(option, value)
    return metric, float(options.get(metric.parameter or "", metric.default))
