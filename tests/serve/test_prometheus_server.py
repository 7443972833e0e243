"""A Prometheus server scrapes a service and evaluates the alert rules; VictoriaMetrics takes its metrics by OTLP.

Rotel, a collector of OpenTelemetry, takes them by OTLP too and passes them on.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from functools import reduce
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "deploy"
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SECONDS = 120


class Server:
    """A program on loopback; most have the HTTP API of Prometheus."""

    def __init__(self, program, arguments, options):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [
            program,
            *arguments,
            *(f"--{name}={value.format(address=self.address)}" for name, value in options.items()),
        ]
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

    def listens(self):
        """Whether it takes connections."""
        host, port = self.address.split(":")
        with socket.create_connection((host, int(port)), timeout=10):
            return True

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


def program(name):
    """The path of a program; the test is skipped where there is none that runs."""
    path = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if path and (name != "rotel-agent" or not subprocess.run([path, "--version"], capture_output=True).returncode):
        return path
    if "CI" in os.environ and name != "rotel-agent":  # it is built for one version of Python
        pytest.fail(f"There is no {name}.")
    pytest.skip(f"Metrics are tested with {name}, and there is none that runs. Install it: scripts/prometheus")


@pytest.fixture
def run_server():
    """Start servers that end with the test."""
    servers = []

    def started(name, *arguments, **options):
        servers.append(Server(program(name), arguments, options))
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


def dashboard_queries(**variables):
    """The queries of the dashboard, as Grafana sends them."""
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    return [reduce(lambda query, item: query.replace(f"${item[0]}", item[1]), variables.items(), q) for q in queries]


def test_an_alarm_in_a_group_fires_the_alert_and_every_panel_has_data(start, classifier, run_server, tmp_path):
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
    for query in dashboard_queries(instance=".*", __rate_interval="30s"):
        assert server.wait(lambda query=query: server.get("query", query=query)["result"]), query


@pytest.fixture
def store(run_server, tmp_path, monkeypatch):
    """A database that takes OTLP."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    options = {"storageDataPath": str(tmp_path / "data"), "httpListenAddr": "{address}", "search.latencyOffset": "0s"}
    server = run_server("victoria-metrics", **options, **{"opentelemetry.usePrometheusNaming": "true"})
    server.wait(lambda: server.get("query", query="1"))
    return server


@pytest.fixture(params=["none", "rotel-agent"])
def endpoint(request, store, run_server, tmp_path):
    """Where to send metrics that shall be in the store: its own address, or that of a collector."""
    url = f"http://{store.address}/opentelemetry"
    if request.param == "none":
        return url
    options = {
        "otlp-http-endpoint": "{address}",
        "otlp-grpc-endpoint": "127.0.0.1:0",
        "pid-file": str(tmp_path / "pid"),
    }
    to_store = {"exporter": "otlp", "otlp-exporter-protocol": "http", "otlp-exporter-endpoint": url}
    collector = run_server("rotel-agent", "start", **options, **to_store)
    collector.wait(collector.listens)
    return f"http://{collector.address}"


def test_metrics_sent_by_otlp_are_read_back(start, classifier, store, endpoint):
    service = start("--otlp", endpoint)
    accepted = sum(service.infer(classifier.inputs[:100])["accepted"])
    assert service.stop() == ""  # the last export is at the end
    wanted = {
        'abstain_decisions_total{accepted="true"}': accepted,
        'abstain_decisions_total{accepted="false"}': 100 - accepted,
        'abstain_alarm_at{monitor="risk"}': 20,
        'abstain_confidence_bucket{le="+Inf"}': 100,
    }
    for query, value in wanted.items():
        assert list(store.wait(lambda query=query: store.values(query)).values()) == [value]
