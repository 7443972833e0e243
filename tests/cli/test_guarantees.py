"""From a plain table to guarantees of several kinds, and to a new one after an alarm."""

import csv
import json
from functools import partial

import numpy as np
import pytest


def write(file, n, slope, seed, groups=("a", "b")):
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    correct = (rng.random(n) >= slope * u**2).astype(int)
    with open(file, "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "confidence", "correct", "group"])
        writer.writerows((f"r{i}", 1 - u[i], correct[i], groups[i % len(groups)]) for i in range(n))
    return file


def read(file):
    with open(file, newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    write(folder / "cal.csv", 3000, 0.3, 0)
    write(folder / "new.csv", 6000, 0.45, 1)
    return folder


@pytest.fixture
def calibrate(run, path):
    return partial(run, "calibrate", path / "cal.csv", "-o", path / "s.abstain")


def test_a_table_becomes_a_guaranteed_threshold_and_decisions(run, calibrate, path):
    done = calibrate("--risk", "0.05")
    assert "the share of errors among accepted rows is at most 0.05, with probability at least 0.95" in done.stdout
    assert "Observed (not guaranteed)" in done.stdout
    assert "s.abstain NEW.csv -o decisions.csv" in done.stdout  # the rows it was calibrated on are not to be decided on
    done = run("select", path / "s.abstain", path / "new.csv", "-o", path / "d.csv", "--json")
    rows = read(path / "d.csv")
    assert json.loads(done.stdout)["accepted"] == sum(row["accepted"] == "True" for row in rows)
    assert set(rows[0]) == {"id", "group", "confidence", "accepted", "reason", "error"}


def test_thresholds_for_groups_and_unseen_groups_are_told(run, calibrate, path):
    done = calibrate("--risk", "0.05", "--per", "domain")
    assert "a: accept above" in done.stdout
    write(path / "other.csv", 100, 0.3, 2, groups=("a", "c"))
    done = run("select", path / "s.abstain", path / "other.csv", "-o", path / "d2.csv")
    assert "Rejected 50 samples of groups that calibration did not contain: c." in done.stdout
    rows = read(path / "d2.csv")
    assert not any(row["accepted"] == "True" for row in rows if row["group"] == "c")


def test_several_targets_together_or_what_is_in_reach(calibrate):
    done = calibrate("--risk", "0.06", "--coverage", "0.5")
    assert "And, together with it: the share of rows accepted is at least 0.5" in done.stdout
    done = calibrate("--risk", "0.06", "--per", "domain", "--group-risk", "0.1")
    assert "of each of the groups a, b is at most 0.1" in done.stdout
    done = calibrate("--risk", "0.01", "--coverage", "0.9")
    assert done.returncode == 1
    assert "cannot be certified together" in done.stderr
    assert calibrate("--risk", "0.1", "--each").stderr.startswith("abstain: `--each` must come with `--per`")


def test_after_an_alarm_a_new_threshold_is_certified_with_labels_asked_for(run, calibrate, path):
    calibrate("--risk", "0.05")
    run("select", path / "s.abstain", path / "new.csv", "-o", path / "d.csv")
    truth = {row["id"]: row["error"] for row in read(path / "d.csv")}
    again = ("--state", path / "again.json")
    for _ in range(4):
        done = run("recertify", path / "s.abstain", path / "d.csv", *again, "--ask", "600", "-o", path / "ask.csv")
        assert "Label the 600 rows" in done.stdout, done.stderr
        asked = [row["id"] for row in read(path / "ask.csv")]
        (path / "labels.csv").write_text("id,error\n" + "".join(f"{name},{truth[name]}\n" for name in asked))
        done = run("recertify", path / "s.abstain", path / "labels.csv", *again, "-o", path / "new.abstain")
        if "Certified after" in done.stdout:
            break
        assert done.returncode == 1
        assert "new.abstain is not written, since nothing is certified yet" in done.stderr
        assert not (path / "new.abstain").exists()
        assert "a risk of" in done.stdout
        assert "The next test is at" in done.stdout
    assert "it holds whenever labelling stopped" in done.stdout
    done = run("select", path / "new.abstain", path / "new.csv", "-o", path / "d3.csv")
    assert done.returncode == 0
    twice = run("recertify", path / "s.abstain", path / "labels.csv", *again)
    assert "must be asked for first" in twice.stderr
    calibrate("--risk", "0.06")
    other = run("recertify", path / "s.abstain", path / "d.csv", *again, "--ask", "5", "-o", path / "ask.csv")
    assert "`--state` must be of this selector" in other.stderr


def test_where_no_row_is_left_to_label_new_ones_are_asked_for(run, calibrate, path):
    calibrate("--risk", "0.05")
    rows = [f"{k},{word},9" for k, word in enumerate(["cat", '"a ""dog"", or so"'] * 60)]
    (path / "few.csv").write_text("\n".join(["id,prediction,confidence", *rows, "low,cat,-9"]) + "\n")
    again = ("recertify", path / "s.abstain", "--state", path / "few.json")
    run(*again, path / "few.csv", "--ask", "119", "-o", path / "few-ask.csv")
    asked = read(path / "few-ask.csv")
    assert {tuple(row) for row in asked} == {("id", "prediction", "confidence", "error")}
    assert {(row["prediction"], row["confidence"]) for row in asked} == {("cat", "9.0"), ('a "dog", or so', "9.0")}
    message = []
    for _ in range(2):
        labels = (path / "few-ask.csv").read_text().replace("9.0,\n", "9.0,1\n")
        (path / "few-ask.csv").write_text(labels)
        message.append(run(*again, path / "few-ask.csv").stdout)
        last = run(*again, path / "few.csv", "--ask", "81", "-o", path / "few-ask.csv")
    assert "The next test is at 200 labels: 81 more, but these decisions have 1 left above the old" in message[0]
    assert "The next test is at 200 labels: 80 more, but these decisions have none left above the old" in message[1]
    assert "start again with a new --state file and decisions on new rows: labels that led to a target" in message[1]
    assert "that have no label yet, got none among 121. Bring decisions on new rows." in last.stderr
    other = run(*again, path / "few.csv", "--ask", "80", "--risk", "0.2", "-o", path / "few-ask.csv")
    assert "name a new file and use decisions on new rows" in other.stderr


def test_groups_are_any_column_by_its_name_from_calibration_to_release(run, tmp_path):
    """The column is read by its name, in another table too, and nobody has to rename anything."""
    rng = np.random.default_rng(0)
    for name in ("old.csv", "new.csv"):
        path = rng.random(3000)
        segments, wrong = np.array(["north", "south"])[rng.integers(2, size=3000)], rng.random(3000) < 0.2 * path**2
        rows = zip(segments, 1 - path, 1 - wrong.astype(int), strict=True)
        lines = [f"{segment},{confidence:.6f},{correct}" for segment, confidence, correct in rows]
        (tmp_path / name).write_text("\n".join(["Segment,confidence,correct", *lines]))
    selector, decisions = tmp_path / "s.abstain", tmp_path / "d.csv"
    done = run("calibrate", tmp_path / "old.csv", "--risk", "0.05", "--per", "Segment", "-o", selector)
    assert "the threshold of its Segment" in done.stdout
    assert "not used" not in done.stderr
    assert "- north: accept above" in done.stdout
    assert not run("select", selector, tmp_path / "new.csv", "-o", decisions).returncode
    with open(decisions, newline="") as file:
        assert {row["group"] for row in csv.DictReader(file)} == {"north", "south"}
    done = run("certify", selector, "--on", tmp_path / "new.csv")
    assert "in the group north" in done.stdout
    assert not run("report", tmp_path / "new.csv", "--selector", selector, "-o", tmp_path / "r.html").returncode


def test_a_table_with_semicolons_is_read_as_one_with_commas(run, tmp_path):
    (tmp_path / "t.csv").write_text("confidence;correct\n" + "\n".join(f"0.{k};1" for k in range(100, 400)))
    done = run("calibrate", tmp_path / "t.csv", "--risk", "0.05", "-o", tmp_path / "s", "--json")
    assert json.loads(done.stdout)["threshold"]["n"] == 300
