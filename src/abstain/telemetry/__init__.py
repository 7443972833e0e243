"""What a deployed selector does, as metrics for Prometheus and OpenTelemetry."""

from abstain.telemetry.measurements import Measurements
from abstain.telemetry.opentelemetry import export_metrics
from abstain.telemetry.prometheus import prometheus_text

__all__ = ["Measurements", "export_metrics", "prometheus_text"]
