"""Commands that take decisions read a log of them: lines, and a folder of Parquet parts."""

import csv
import json

import numpy as np
import pytest

from abstain import Outputs, Selector, calibrate
from abstain.decision_log import DecisionLog


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    """Decisions with an audit as a table and as logs, of a service and of a command that stopped in between."""
    folder = tmp_path_factory.mktemp("logs")
    for name, seed, steep in (("cal", 0, 0.3), ("new", 1, 0.3), ("bad", 2, 0.9)):
        rng = np.random.default_rng(seed)
        u = rng.random(3000)
        errors, ids = rng.random(3000) < steep * u**2, [f"{name}-{row}" for row in range(3000)]
        Outputs(confidences={"vendor": 1 - u}, errors=errors, ids=ids).save(folder / name)
    calibrate(Outputs.load(folder / "cal"), risk=0.05).save(folder / "s.abstain")
    for name in ("new", "bad"):
        for end in ("jsonl", "parquet"):
            select(run, folder, name, folder / f"{name}.{end}")
    return folder


def select(run, folder, name, log):
    """Log the decisions on two batches, the first in a part that is closed; and the table of both."""
    lines = []
    for rows in (slice(1500), slice(1500, None)):
        Outputs.load(folder / name)[rows].save(folder / "batch")
        command = ("select", folder / "s.abstain", folder / "batch", "--audit", "0.5", "-o", folder / "batch.csv")
        done = run(*command, "--log", log)
        assert done.returncode == 0, done.stderr
        lines += (folder / "batch.csv").read_text().splitlines(keepends=True)[bool(lines) :]
        if rows.start is None:
            with DecisionLog(log, selector=Selector.load(folder / "s.abstain").digest, part_bytes=1) as closing:
                closing.rotate()
    (folder / f"{name}.csv").write_text("".join(lines))


@pytest.mark.parametrize("end", ["jsonl", "parquet"])
@pytest.mark.parametrize(("name", "code"), [("new", 0), ("bad", 3)])
def test_monitor_counts_a_log_as_it_counts_the_table(run, folder, name, code, end):
    asked = ("--selector", folder / "s.abstain", "--json")
    done, table = (run("monitor", folder / f"{name}.{kind}", *asked) for kind in (end, "csv"))
    assert (done.returncode, done.stderr) == (code, "")
    shown = json.loads(done.stdout)
    assert shown["rows"] == 3000
    assert shown["risk"]["n"] > 400  # labels wait for those of rows that were not drawn
    assert shown == json.loads(table.stdout)


@pytest.mark.parametrize("end", ["jsonl", "parquet"])
@pytest.mark.parametrize(("name", "code"), [("new", 0), ("bad", 3)])
def test_certify_tests_the_risk_on_the_audit_of_a_log(run, folder, name, code, end):
    done, table = (run("certify", folder / "s.abstain", "--on", folder / f"{name}.{kind}") for kind in (end, "csv"))
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout == table.stdout


@pytest.mark.parametrize("end", ["jsonl", "parquet"])
def test_recertify_asks_for_labels_of_rows_in_a_log(run, folder, end, tmp_path):
    arguments = ("recertify", folder / "s.abstain", folder / f"bad.{end}", "--state", tmp_path / "again.json")
    done = run(*arguments, "--ask", "200", "-o", tmp_path / "to-label.csv")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "to-label.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    assert all(row["id"].startswith("bad-") for row in rows)


def test_certify_wants_an_audit_or_all_labels_of_a_log(run, folder, tmp_path):
    with DecisionLog(tmp_path / "d.jsonl", selector=Selector.load(folder / "s.abstain").digest) as log:
        log.append({"id": ["a", "b"], "confidence": [0.9, 0.8], "accepted": [True, True]})
        log.append({"id": ["a"], "error": [False]})
    done = run("certify", folder / "s.abstain", "--on", tmp_path / "d.jsonl")
    assert done.returncode == 1
    assert "must have an audit or a label for every decision" in done.stderr
