"""Errors of estimates without labels, as tables."""

from collections.abc import Callable, Sequence
from statistics import fmean, median

from abstain_reproduction.findings import ResultTable
from abstain_reproduction.label_free.cases import EstimateCase

KINDS = ("none", "covariate", "unknown")
NO_CHANGE, MEDIAN = "no change", "median of all"
NOTE = (
    "Mean absolute difference between estimated and true selective risk, in percentage points: over the cases of a "
    'model, then over models. "no change" takes the risk of the reference rows. Unknown: a tenth of the rows.'
)


def estimated(case: EstimateCase, method: str, /) -> float | None:
    """The estimated selective risk of a case by a method or a baseline; None where the rows did not allow it."""
    if method == NO_CHANGE:
        return case.before
    return median(case.risks.values()) if method == MEDIAN else case.risks.get(method)


def mean_error(
    cases: Sequence[EstimateCase], method: str, /, *, measure: Callable[[float], float] = abs
) -> float | None:
    """The mean over models of the mean over cases of |estimate − truth|, or of another measure of the difference."""
    by_model: dict[str, list[float]] = {}
    for case in cases:
        risk = estimated(case, method)
        if risk is not None:
            by_model.setdefault(case.model, []).append(measure(risk - case.truth))
    return fmean(fmean(errors) for errors in by_model.values()) if by_model else None


def best_method(cases: Sequence[EstimateCase], methods: Sequence[str], /) -> str:
    """The method of lowest mean error among those that were measured on every model."""
    models = {case.model for case in cases}
    whole = [name for name in methods if {case.model for case in cases if name in case.risks} == models]
    return min(whole, key=lambda name: mean_error(cases, name) or 0.0)


def methods_table(title: str, cases: Sequence[EstimateCase], methods: Sequence[str], /) -> ResultTable:
    """The error of each method by kind of shift, and by how much it is too low on average."""
    rows = []
    for name in (*methods, MEDIAN, NO_CHANGE):
        by_kind = [mean_error([case for case in cases if case.kind == kind], name) for kind in KINDS]
        bias = mean_error(cases, name, measure=float)
        rows.append((name, *map(_points, by_kind), _points(mean_error(cases, name)), _points(bias, signed=True)))
    return ResultTable(title, ("method", "no shift", "covariate", "unknown", "all", "bias"), tuple(rows), NOTE)


def models_table(title: str, cases: Sequence[EstimateCase], method: str, /) -> ResultTable:
    """Each model: what the truth was, how far the default and the baseline were off, how often the spread held it."""
    rows = []
    for model in dict.fromkeys(case.model for case in cases):
        some = [case for case in cases if case.model == model]
        truths = [100 * case.truth for case in some]
        rows.append(
            (
                model,
                str(len(some)),
                f"{100 * fmean(case.before for case in some):.1f}",
                f"{min(truths):.1f} to {max(truths):.1f}",
                _points(mean_error(some, method)),
                _points(mean_error(some, NO_CHANGE)),
                f"{sum(map(is_inside, some))} of {len(some)}",
                f"{sum(case.truth > max(case.risks.values()) for case in some)}",
            )
        )
    columns = (
        "model",
        "cases",
        "risk before",
        "after",
        f"error of {method}",
        NO_CHANGE,
        "truth in the spread",
        "above",
    )
    return ResultTable(title, columns, tuple(rows), "Risks and errors in percent and percentage points.")


def is_inside(case: EstimateCase, /) -> bool:
    """Whether the truth is between the lowest and the highest estimate."""
    return min(case.risks.values()) <= case.truth <= max(case.risks.values())


def _points(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{100 * value:+.1f}".replace("-", "−") if signed else f"{100 * value:.1f}"
