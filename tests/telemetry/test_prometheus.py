"""A scrape is what the official parser reads, and the files in deploy/ name metrics that exist."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from abstain import calibrate
from abstain.datasets import digits
from abstain.monitor import DeploymentMonitor, Row, Watch
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


def test_edges_of_buckets_are_written_as_people_write_them(measurements):
    edges = {label[1] for name, *labels in samples(measurements) for label in labels if label[0] == "le"}
    assert {"0.0025", "0.005", "0.05"} <= edges


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


@pytest.fixture(scope="module")
def west():
    """The samples of a service with an alarm in one of two groups, and nowhere else."""
    outputs = digits()
    selector = calibrate(outputs[outputs.shift == "none"], risk=0.02)
    watch = Watch(DeploymentMonitor.of(selector, per="group"))
    groups = ["east" if k % 20 else "west" for k in range(8000)]
    watch.observe([Row(True, 9.0, k % 160 == 0, f"r{k}", group) for k, group in enumerate(groups)])
    watch.close()
    measurements = Measurements(selector)
    measurements.monitored(watch.metrics())
    assert [(alarm.name, alarm.group) for alarm in watch.alarms if alarm.name == "risk"] == [("risk", "west")]
    return samples(measurements)


def test_an_alarm_in_a_group_has_its_name_as_a_label(west):
    for group, alarm in (("", 0), ("west", 1), ("east", 0)):
        assert west["abstain_alarm", ("group", group), ("monitor", "risk")] == alarm
    assert west["abstain_evidence", ("group", "west"), ("monitor", "risk")] >= 80
    assert west["abstain_monitor", ("group", "west"), ("quantity", "risk_errors")] == 50


@pytest.fixture(scope="module")
def promtool():
    path = shutil.which("promtool", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if not path and "CI" not in os.environ:
        pytest.skip("Alert rules are tested by promtool, and there is none. Install it: scripts/prometheus")
    return path


def test_promtool_accepts_the_rules(promtool):
    done = subprocess.run([promtool, "check", "rules", DEPLOY / "prometheus-rules.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_alarm_in_a_group_pages(west, promtool, tmp_path):
    about = {"job": "abstain", "instance": "a:8000"}
    series = []
    for (name, *labels), value in west.items():
        if name in ("abstain_alarm", "abstain_alarm_at", "abstain_evidence"):
            texts = [f'{label}="{text}"' for label, text in (*about.items(), *labels) if text]
            series.append({"series": f"{name}{{{','.join(texts)}}}", "values": f"{value}x60"})
    expected = [
        {"exp_labels": about | {"monitor": monitor, "severity": "page"} | ({"group": group} if group else {})}
        for (name, (_, group), (_, monitor), *_), value in (
            (key, value) for key, value in west.items() if len(key) == 3
        )
        if name == "abstain_alarm" and value
    ]
    assert about | {"monitor": "risk", "group": "west", "severity": "page"} in [each["exp_labels"] for each in expected]
    rules = (DEPLOY / "prometheus-rules.yml").read_text()
    (tmp_path / "rules.yml").write_text(re.sub(r"( +)annotations:\n(?:\1  .*\n?)+", "", rules))
    test = {"alertname": "AbstainMonitorAlarm", "eval_time": "5m", "exp_alerts": expected}
    document = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{"interval": "1m", "input_series": series, "alert_rule_test": [test]}],
    }
    (tmp_path / "test.yml").write_text(json.dumps(document))  # YAML contains JSON
    done = subprocess.run([promtool, "test", "rules", tmp_path / "test.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
