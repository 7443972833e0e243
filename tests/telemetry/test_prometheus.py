"""A scrape is what the official parser reads, and the files in deploy/ name metrics that exist."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from abstain import calibrate
from abstain.datasets import digits
from abstain.monitor import DeploymentMonitor, Watch
from abstain.telemetry import Measurements, prometheus_text

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module")
def measurements():
    outputs = digits()
    selector = calibrate(outputs[outputs.shift == "none"], risk=0.02)
    measurements = Measurements(selector)
    measurements.decided(np.array([0.1, 3.0, 4.0, np.nan]), np.array([False, True, True, False]))
    measurements.answered(200, 0.003)
    measurements.monitored(Watch(DeploymentMonitor.of(selector)).metrics())
    return measurements


def samples(measurements):
    families = text_string_to_metric_families(prometheus_text(measurements).decode())
    return {(s.name, *sorted(s.labels.items())): s.value for family in families for s in family.samples}


def test_a_scrape_has_decisions_confidences_and_every_test(measurements):
    got = samples(measurements)
    assert got["abstain_decisions_total", ("accepted", "true")] == 2
    assert got["abstain_decisions_total", ("accepted", "false")] == 2
    assert got["abstain_nonfinite_total",] == 1
    assert got["abstain_accepted_share",] == 0.5
    assert got["abstain_confidence_count",] == 4
    assert got["abstain_confidence_sum",] == pytest.approx(7.1)
    assert got["abstain_confidence_bucket", ("le", "+Inf")] == 4
    for monitor in ("risk", "acceptance", "scores"):
        assert got["abstain_alarm", ("monitor", monitor)] == 0
        assert got["abstain_evidence", ("monitor", monitor)] == 1
        assert got["abstain_alarm_at", ("monitor", monitor)] >= 20


def test_the_calibration_sample_fills_the_buckets_evenly():
    outputs = digits()
    clean = outputs[outputs.shift == "none"]
    selector = calibrate(clean, risk=0.02)
    measurements = Measurements(selector)
    confidence = selector.confidence(clean)
    measurements.decided(confidence, confidence > 0)
    counts = measurements.metrics()[2].histogram.counts
    assert np.abs(counts[:-1] / len(clean) - 0.1).max() < 0.01


def test_dashboard_and_rules_use_metrics_that_a_scrape_has(measurements):
    known = {name for name, *_ in samples(measurements)}
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    texts = [*queries, (DEPLOY / "prometheus-rules.yml").read_text()]
    used = {name for text in texts for name in re.findall(r"\babstain_[a-z_]+", text)}
    assert len(used) > 6
    assert used <= known


def test_promtool_accepts_the_rules():
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed")
    done = subprocess.run(
        ["promtool", "check", "rules", DEPLOY / "prometheus-rules.yml"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
