"""The metrics by name."""

from collections.abc import Mapping
from importlib import import_module

from abstain._arguments import check_number
from abstain._errors import InvalidInputError
from abstain._names import called, check_name
from abstain.metrics.metric import Metric

FILES = (
    *("estimates", "augrc", "excess_aurc", "operating_points", "prediction_rejection"),
    *("class_balanced", "softmax_metrics", "ood"),
)
"""Each has its metrics as `ENTRIES`."""
METRICS: Mapping[str, Metric] = {
    metric.name: metric for file in FILES for metric in import_module(f"abstain.metrics.{file}").ENTRIES
}
"""Every metric by name, with what it needs; adding one takes a file, a line above and a test."""


def as_metric(asked: str, /) -> tuple[Metric, float]:
    """The metric of a name and the value of its parameter: ``augrc``, ``coverage_at_risk(risk=0.02)``."""
    name, options = called("metric", asked)
    check_name("metric", name, METRICS, rule="be a known metric", otherwise=f"There are {', '.join(METRICS)}.")
    metric = METRICS[name]
    for option, value in options.items():
        if metric.parameter is None:
            raise InvalidInputError(f"`{name}` must come without options, got {option}.")
        check_name(f"option of {name}", option, [metric.parameter])
        check_number(option, value)
        if not 0 <= value <= 1:
            raise InvalidInputError(f"`{option}` of {name} must be between 0 and 1, got {value}.")
    return metric, float(options.get(metric.parameter or "", metric.default))
