"""The metrics of `Measurements` as OpenTelemetry instruments, sent to a collector over OTLP."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain._extras import require
from abstain.telemetry.measurements import Measurement, Measurements

FEATURE = "Metrics by OpenTelemetry"
SECONDS = 10.0


def export_metrics(
    measurements: Measurements, endpoint: str, /, *, seconds: float = SECONDS, service: str = "abstain"
) -> Callable[[], None]:
    """Send metrics to a collector, every few seconds and once more at the end.

    Parameters
    ----------
    measurements : Measurements
        The metrics.
    endpoint : str
        The address of the collector's OTLP/HTTP receiver, such as ``http://localhost:4318``.
    seconds : float
        Time between two exports.
    service : str
        The ``service.name`` of the resource.

    Returns
    -------
    callable
        Exports once more and stops.
    """
    sdk = require("opentelemetry.sdk.metrics", extra="otel", feature=FEATURE)
    export = require("opentelemetry.sdk.metrics.export", extra="otel", feature=FEATURE)
    otlp = require("opentelemetry.exporter.otlp.proto.http.metric_exporter", extra="otel", feature=FEATURE)
    resources = require("opentelemetry.sdk.resources", extra="otel", feature=FEATURE)
    exporter = otlp.OTLPMetricExporter(endpoint=f"{endpoint.rstrip('/')}/v1/metrics", timeout=min(seconds, 10.0))
    reader = export.PeriodicExportingMetricReader(exporter, export_interval_millis=1000 * seconds)
    provider = sdk.MeterProvider([reader], resource=resources.Resource.create({"service.name": service}))
    observe_metrics(measurements, provider.get_meter("abstain"))
    return provider.shutdown


def observe_metrics(measurements: Measurements, meter: Any, /) -> None:
    """Create an instrument for each metric on a meter of your own provider.

    Parameters
    ----------
    measurements : Measurements
        The metrics.
    meter : opentelemetry.metrics.Meter
        A meter of OpenTelemetry.
    """
    for metric in measurements.metrics():
        name = f"abstain.{metric.name}"
        if metric.name == "confidence":
            edges = list(measurements.edges)
            histogram = meter.create_histogram(
                name, description=metric.about, explicit_bucket_boundaries_advisory=edges
            )
            measurements.listeners.append(partial(_record, histogram))
        elif metric.kind != "histogram":
            make = meter.create_observable_counter if metric.kind == "counter" else meter.create_observable_gauge
            make(name, [partial(_observations, measurements, metric.name)], description=metric.about)


def _observations(measurements: Measurements, name: str, _: Any) -> Iterable[Any]:
    observation = require("opentelemetry.metrics", extra="otel", feature=FEATURE).Observation
    metric: Measurement = next(metric for metric in measurements.metrics() if metric.name == name)
    return [observation(value, dict(labels)) for labels, value in metric.values]


def _record(histogram: Any, values: NDArray[np.float64]) -> None:
    for value in values.tolist():
        histogram.record(value)
