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
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    write(folder / "cal.csv", 3000, 0.3, 0)
    write(folder / "new.csv", 6000, 0.45, 1)
    return folder


@pytest.fixture
def calibrate(run, place):
    return partial(run, "calibrate", place / "cal.csv", "-o", place / "s.abstain")


def test_a_table_becomes_a_guaranteed_threshold_and_decisions(run, calibrate, place):
    done = calibrate("--risk", "0.05")
    assert "the share of errors among accepted rows is at most 0.05, with probability at least 0.95" in done.stdout
    assert "Observed (not guaranteed)" in done.stdout
    assert "s.abstain NEW.csv -o decisions.csv" in done.stdout  # the rows it was calibrated on are not to be decided on
    done = run("select", place / "s.abstain", place / "new.csv", "-o", place / "d.csv", "--json")
    rows = read(place / "d.csv")
    assert json.loads(done.stdout)["accepted"] == sum(row["accepted"] == "True" for row in rows)
    assert set(rows[0]) == {"id", "group", "confidence", "accepted", "reason", "error"}


def test_thresholds_for_groups_and_unseen_groups_are_told(run, calibrate, place):
    done = calibrate("--risk", "0.05", "--per", "domain")
    assert "a: accept above" in done.stdout
    write(place / "other.csv", 100, 0.3, 2, groups=("a", "c"))
    done = run("select", place / "s.abstain", place / "other.csv", "-o", place / "d2.csv")
    assert "Rejected 50 samples of groups that calibration did not contain: c." in done.stdout
    rows = read(place / "d2.csv")
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


def test_after_an_alarm_a_new_threshold_is_certified_with_labels_asked_for(run, calibrate, place):
    calibrate("--risk", "0.05")
    run("select", place / "s.abstain", place / "new.csv", "-o", place / "d.csv")
    truth = {row["id"]: row["error"] for row in read(place / "d.csv")}
    again = ("--state", place / "again.json")
    for _ in range(4):
        done = run("recertify", place / "s.abstain", place / "d.csv", *again, "--ask", "600", "-o", place / "ask.csv")
        assert "Label the 600 rows" in done.stdout, done.stderr
        asked = [row["id"] for row in read(place / "ask.csv")]
        (place / "labels.csv").write_text("id,error\n" + "".join(f"{name},{truth[name]}\n" for name in asked))
        done = run("recertify", place / "s.abstain", place / "labels.csv", *again, "-o", place / "new.abstain")
        if "Certified after" in done.stdout:
            break
        assert "a risk of" in done.stdout
        assert "The next test is at" in done.stdout
    assert "it holds whenever labelling stopped" in done.stdout
    done = run("select", place / "new.abstain", place / "new.csv", "-o", place / "d3.csv")
    assert done.returncode == 0
    twice = run("recertify", place / "s.abstain", place / "labels.csv", *again)
    assert "must be asked for first" in twice.stderr
    calibrate("--risk", "0.06")
    other = run("recertify", place / "s.abstain", place / "d.csv", *again, "--ask", "5", "-o", place / "ask.csv")
    assert "`--state` must be of this selector" in other.stderr


def test_where_no_row_is_left_to_label_new_ones_are_asked_for(run, calibrate, place):
    calibrate("--risk", "0.05")
    rows = [f"{k},{word},9" for k, word in enumerate(["cat", '"a ""dog"", or so"'] * 60)]
    (place / "few.csv").write_text("\n".join(["id,prediction,confidence", *rows, "low,cat,-9"]) + "\n")
    again = ("recertify", place / "s.abstain", "--state", place / "few.json")
    run(*again, place / "few.csv", "--ask", "119", "-o", place / "few-ask.csv")
    asked = read(place / "few-ask.csv")
    assert {tuple(row) for row in asked} == {("id", "prediction", "confidence", "error")}
    assert {(row["prediction"], row["confidence"]) for row in asked} == {("cat", "9.0"), ('a "dog", or so', "9.0")}
    told = []
    for _ in range(2):
        labels = (place / "few-ask.csv").read_text().replace("9.0,\n", "9.0,1\n")
        (place / "few-ask.csv").write_text(labels)
        told.append(run(*again, place / "few-ask.csv").stdout)
        last = run(*again, place / "few.csv", "--ask", "81", "-o", place / "few-ask.csv")
    assert "The next test is at 200 labels: 81 more, but these decisions have 1 left above the old" in told[0]
    assert "The next test is at 200 labels: 80 more, but these decisions have none left above the old" in told[1]
    assert "start again with a new --state file and decisions on new rows: labels that led to a target" in told[1]
    assert "that have no label yet, got none among 121. Bring decisions on new rows." in last.stderr
    other = run(*again, place / "few.csv", "--ask", "80", "--risk", "0.2", "-o", place / "few-ask.csv")
    assert "name a new file and use decisions on new rows" in other.stderr


def test_groups_are_any_column_by_its_name_from_calibration_to_release(run, tmp_path):
    """The column is read by its name, in another table too, and nobody has to rename anything."""
    rng = np.random.default_rng(0)
    for name in ("old.csv", "new.csv"):
        place = rng.random(3000)
        segments, wrong = np.array(["north", "south"])[rng.integers(2, size=3000)], rng.random(3000) < 0.2 * place**2
        rows = zip(segments, 1 - place, 1 - wrong.astype(int), strict=True)
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
