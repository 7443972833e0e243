"""Metrics in the text format of Prometheus, written by its official client."""

from collections.abc import Iterator
from typing import Any, final

from abstain._extras import require
from abstain.telemetry.measurements import Measurement, Measurements

FEATURE = "Metrics for Prometheus"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@final
class PrometheusCollector:
    """A collector for a registry of ``prometheus_client``: ``REGISTRY.register(PrometheusCollector(measurements))``.

    Parameters
    ----------
    measurements : Measurements
        What is collected at each scrape.
    """

    def __init__(self, measurements: Measurements, /) -> None:
        self.measurements = measurements
        self._core = require("prometheus_client.core", extra="serve", feature=FEATURE)

    def collect(self) -> Iterator[Any]:
        """The families of metrics, as the client asks for them."""
        for metric in self.measurements.metrics():
            yield self._family(metric)

    def _family(self, metric: Measurement) -> Any:
        name = f"abstain_{metric.name}"
        if metric.histogram is not None:
            family = self._core.HistogramMetricFamily(name, metric.about)
            family.add_metric([], metric.histogram.cumulative(), metric.histogram.total)
            return family
        kind = self._core.CounterMetricFamily if metric.kind == "counter" else self._core.GaugeMetricFamily
        names = list(dict.fromkeys(label for labels, _ in metric.values for label, _ in labels))
        family = kind(name, metric.about, labels=names)
        for labels, value in metric.values:
            family.add_metric([dict(labels).get(name, "") for name in names], value)  # an empty label is none
        return family


def prometheus_text(measurements: Measurements, /) -> bytes:
    """What a scrape gets.

    Parameters
    ----------
    measurements : Measurements
        The metrics.

    Returns
    -------
    bytes
        The text format of Prometheus, version 0.0.4.
    """
    client = require("prometheus_client", extra="serve", feature=FEATURE)
    registry = client.CollectorRegistry()
    registry.register(PrometheusCollector(measurements))
    return bytes(client.generate_latest(registry))
