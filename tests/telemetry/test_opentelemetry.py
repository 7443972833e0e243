"""Metrics reach a receiver of OTLP over HTTP, decoded by the protocol's own messages."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from abstain import calibrate
from abstain.datasets import digits
from abstain.telemetry import Measurements, export_metrics


@pytest.fixture
def receiver():
    """A server that keeps what it gets."""
    got = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            message = ExportMetricsServiceRequest()
            message.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            got.append((self.path, message))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()
        thread.join()


def test_a_collector_gets_decisions_confidences_and_alarms(receiver, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    url, got = receiver
    outputs = digits()
    measurements = Measurements(calibrate(outputs[outputs.shift == "none"], risk=0.02))
    end = export_metrics(measurements, url, seconds=60.0)
    measurements.decided(np.array([0.1, 3.0, 4.0, np.nan]), np.array([False, True, True, False]))
    measurements.monitored({"risk_evidence": 7.0, "risk_alarm": 1.0, "risk_alarm_at": 20.0})
    end()
    path, message = got[-1]
    assert path == "/v1/metrics"
    metrics = {m.name: m for r in message.resource_metrics for s in r.scope_metrics for m in s.metrics}
    decisions = {p.attributes[0].value.string_value: p.as_int for p in metrics["abstain.decisions"].sum.data_points}
    assert decisions == {"true": 2, "false": 2}
    (confidence,) = metrics["abstain.confidence"].histogram.data_points
    assert confidence.count == 3
    assert list(confidence.explicit_bounds) == list(measurements.edges)
    for name, value in (("evidence", 7.0), ("alarm", 1.0), ("alarm_at", 20.0)):
        (point,) = metrics[f"abstain.{name}"].gauge.data_points
        assert (point.attributes[0].value.string_value, point.as_double) == ("risk", value)
