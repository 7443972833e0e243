"""A Prometheus server scrapes a service and evaluates the alert rules; VictoriaMetrics takes its metrics by OTLP."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SECONDS = 120


class Server:
    """A program on loopback with the HTTP API of Prometheus."""

    def __init__(self, name, options):
        program = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if not program and "CI" not in os.environ:
            pytest.skip(f"Metrics are tested with {name}, and there is none. Install it: scripts/prometheus")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [program, *(f"--{name}={value.format(address=self.address)}" for name, value in options.items())]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self, path, **parameters):
        """The data of an answer of its HTTP API."""
        with OPENER.open(
            f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}", timeout=10
        ) as got:
            return json.load(got)["data"]

    def values(self, query):
        """The values of a query, by labels but for those that Prometheus adds."""
        return {
            frozenset((name, text) for name, text in sample["metric"].items() if name not in ("__name__", "instance")):
            float(sample["value"][1])
            for sample in self.get("query", query=query)["result"]
        }  # fmt: skip

    def wait(self, condition):
        """What a function returns once it is true."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            try:
                if result := condition():
                    return result
            except OSError:
                pass  # it does not listen yet
            time.sleep(0.2)
        raise TimeoutError("Prometheus did not get there")


@pytest.fixture
def run_server():
    """Start servers that end with the test."""
    servers = []

    def started(name, **options):
        servers.append(Server(name, options))
        return servers[-1]

    yield started
    for server in servers:
        server.process.terminate()
        server.process.wait(30)


def prometheus(run_server, folder, target):
    """One that scrapes an address every second and evaluates the alert rules."""
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(DEPLOY / "prometheus-rules.yml")],
        "scrape_configs": [{"job_name": "abstain", "static_configs": [{"targets": [target]}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(config))  # YAML contains JSON
    files = {"config.file": str(folder / "prometheus.yml"), "storage.tsdb.path": str(folder / "data")}
    return run_server("prometheus", **files, **{"web.listen-address": "{address}"})


def test_an_alarm_in_a_group_fires_the_alert(start, classifier, run_server, tmp_path):
    service = start("--per", "region", "--log", tmp_path / "d.jsonl", "--state", tmp_path / "w.json")
    server = prometheus(run_server, tmp_path, service.address)
    accepted = 0
    for region, first, every in (("west", 0, 2), ("east", 100, 1000)):
        outputs = service.infer(classifier.inputs[first : first + 100], id=region, parameters={"region": region})
        ids = [name for name, taken in zip(outputs["id"], outputs["accepted"], strict=True) if taken]
        labels = {"labels": [{"id": name, "error": k % every == 1} for k, name in enumerate(ids)]}
        assert service.get("/v2/models/net/labels", json.dumps(labels).encode())[0] == 200
        accepted += len(ids)

    def firing():
        alerts = [each["labels"] for each in server.get("alerts")["alerts"] if each["state"] == "firing"]
        return [each for each in alerts if each.get("group") == "west" and each["monitor"] == "risk"]

    (labels,) = server.wait(firing)
    assert (labels["alertname"], labels["job"], labels["severity"]) == ("AbstainMonitorAlarm", "abstain", "page")
    alarms = server.values('abstain_alarm{monitor="risk",group!=""}')
    of_groups = {dict(labels)["group"]: value for labels, value in alarms.items()}
    assert of_groups == {"west": 1, "east": 0}
    (count,) = server.values('abstain_decisions_total{accepted="true"}').values()
    assert count == accepted
    (buckets,) = server.values('abstain_confidence_bucket{le="+Inf"}').values()
    assert buckets == 200


def test_metrics_sent_by_otlp_are_read_back(start, classifier, run_server, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    options = {"storageDataPath": str(tmp_path / "data"), "httpListenAddr": "{address}", "search.latencyOffset": "0s"}
    server = run_server("victoria-metrics", **options, **{"opentelemetry.usePrometheusNaming": "true"})
    server.wait(lambda: server.get("query", query="1"))
    service = start("--otlp", f"http://{server.address}/opentelemetry")
    accepted = sum(service.infer(classifier.inputs[:100])["accepted"])
    assert service.stop() == ""  # the last export is at the end
    counts = server.wait(lambda: server.values("abstain_decisions_total"))
    by_verdict = {dict(labels)["accepted"]: value for labels, value in counts.items()}
    assert by_verdict == {"true": accepted, "false": 100 - accepted}
    (alarm_at,) = server.values('abstain_alarm_at{monitor="risk"}').values()
    assert alarm_at == 20
    (buckets,) = server.values('abstain_confidence_bucket{le="+Inf"}').values()
    assert buckets == 100
