"""`abstain monitor` as a user meets it."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars
import pytest

from abstain import MissRate, Outputs, Risk, Selector, calibrate
from abstain.monitor import AcceptanceMonitor, DeploymentMonitor, RiskMonitor, ScoreMonitor


def write(path, errors, n):
    rows = [{"accepted": True, "error": (k + 1) * errors // n > k * errors // n} for k in range(n)] + [
        {"accepted": False, "error": True}
    ] * 50
    rows.append({"accepted": True, "error": None})
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    elif path.suffix == ".csv":
        polars.DataFrame(rows).write_csv(path)
    else:
        polars.DataFrame(rows).write_parquet(path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_counts_and_verdict(run, tmp_path, ending):
    write(tmp_path / f"s.{ending}", 5, 100)
    done = run("monitor", tmp_path / f"s.{ending}", "--risk", "0.05", "--json")
    document = json.loads(done.stdout)["risk"]
    assert (document["n"], document["errors"], document["alarm"]) == (100, 5, False)
    assert done.returncode == 0


def test_an_alarm_has_its_own_exit_code(run, tmp_path):
    write(tmp_path / "s.csv", 40, 100)
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.05")
    assert done.returncode == 3
    assert "Risk: ALARM, above the guaranteed 0.05. 40 errors in 100" in done.stdout
    assert "Next: label recent rows and calibrate again on them (`abstain calibrate`)." in done.stdout
    assert "No alarm" not in done.stdout


def test_the_share_accepted_is_watched_without_labels(run, tmp_path):
    rows = [{"accepted": k % 3 != 0} for k in range(150)]
    (tmp_path / "s.csv").write_text("accepted\n" + "\n".join(str(row["accepted"]) for row in rows))
    same = run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--calibration", "670/1000", "--json")
    assert (
        json.loads(same.stdout)["acceptance"] | {"accepted": 100, "n": 150, "alarm": False}
        == json.loads(same.stdout)["acceptance"]
    )
    other = run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--calibration", "980/1000")
    assert other.returncode == 3
    assert "Share accepted: ALARM, outside what calibration allows" in other.stdout
    assert "certify nothing about the risk" in other.stdout
    assert "No alarm" not in other.stdout
    assert "no labels of accepted samples yet" in other.stdout
    assert "If it has, calibrate again on them." in other.stdout
    assert "must be ACCEPTED/N" in run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--calibration", "x").stderr


@pytest.mark.parametrize(
    ("target", "possible"), [(Risk(0.05), True), (Risk(0.05, per="class"), True), (MissRate({"0": 0.05}), False)]
)
def test_recertify_is_proposed_only_where_it_does_not_refuse(run, tmp_path, target, possible):
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=2000)
    outputs = Outputs(logits=rng.normal(size=(2000, 2)) + 4 * np.eye(2)[labels], labels=labels)
    selector = calibrate(outputs, target)
    selector.save(tmp_path / "s.abstain")
    columns = selector.decide(outputs[:300])
    polars.DataFrame({**columns, "error": [True] * 300}).write_csv(tmp_path / "d.csv")
    watched = ("monitor", tmp_path / "d.csv", "--selector", tmp_path / "s.abstain", "--state", tmp_path / "w.json")
    done = run(*watched, "--risk", "0.05")
    assert ("abstain recertify" in done.stdout) == possible
    assert ("calibrate again on them (`abstain calibrate`, with --per class as before)" in done.stdout) == (
        not possible
    )
    asked = ("recertify", tmp_path / "s.abstain", tmp_path / "d.csv", "--state", tmp_path / "r.json", "--ask", "20")
    assert run(*asked, "-o", tmp_path / "ask.csv").returncode == (0 if possible else 1)


def test_one_group_with_an_alarm_is_named_and_certified_again(run, tmp_path):
    """From calibration to alarm, labels, new selector and its monitor, by commands alone."""
    rng = np.random.default_rng(0)

    def table(name, n, worse):
        segment, confidence = np.tile(["x", "y"], n // 2), rng.random(n)
        wrong = rng.random(n) < np.where((segment == "y") & worse, 0.9, 0.3) * (1 - confidence) ** 2
        polars.DataFrame(
            {"id": [f"{name}-{k}" for k in range(n)], "confidence": confidence, "segment": segment, "error": wrong}
        ).write_csv(tmp_path / f"{name}.csv")

    table("old", 3000, worse=False)
    table("new", 6000, worse=True)
    files = ("--selector", tmp_path / "s.abstain", "--state", tmp_path / "w.json")
    asked = ("--risk", "0.1", "--per", "segment", "-o", tmp_path / "s.abstain")
    done = run("calibrate", tmp_path / "old.csv", *asked)
    assert "the threshold of its segment; all 2 have one, and any other segment is rejected." in done.stdout
    assert run("monitor", tmp_path / "old.csv", *files).returncode == 0
    done = run("monitor", tmp_path / "new.csv", *files)
    assert "in segment y, the risk is above the guaranteed risk" in done.stdout
    document = json.loads(run("monitor", tmp_path / "new.csv", *files, "--json").stdout)
    assert document["groups"]["y"]["risk"]["alarm"]
    assert not document["groups"]["x"]["risk"]["alarm"]
    state = ("--state", tmp_path / "r.json", "--group", "y")
    ask = (
        "recertify",
        tmp_path / "s.abstain",
        tmp_path / "new.csv",
        *state,
        "--ask",
        "1311",
        "-o",
        tmp_path / "ask.csv",
    )
    assert run(*ask).returncode == 0
    todo, known = polars.read_csv(tmp_path / "ask.csv"), polars.read_csv(tmp_path / "new.csv")
    assert set(todo["segment"]) == {"y"}
    todo.drop("error").join(known["id", "error"], on="id").write_csv(tmp_path / "ask.csv")
    done = run("recertify", tmp_path / "s.abstain", tmp_path / "ask.csv", *state, "-o", tmp_path / "n.abstain")
    assert "Certified after 1311 labels: 1 of 1 groups (segment)." in done.stdout
    few = (tmp_path / "s.abstain", tmp_path / "few.csv", "--state", tmp_path / "few.json", "--group", "y")
    known.filter(polars.col("segment") == "y").head(150).write_csv(tmp_path / "few.csv")
    run("recertify", *few, "--ask", "20", "-o", tmp_path / "asked.csv")
    polars.read_csv(tmp_path / "asked.csv").with_columns(error=0).write_csv(tmp_path / "few.csv")
    done = run("recertify", *few)
    assert "Nothing is certified after 20 labels, in 1 groups (segment)." in done.stdout
    assert "y: nothing after 20 labels; the next test is at 200. It needs 180 more, but these" in done.stdout
    old, new = (Selector.load(tmp_path / f"{name}.abstain").groups.thresholds for name in "sn")
    assert new["x"] == old["x"]
    assert old["y"].value < new["y"].value < 1
    again = run("monitor", tmp_path / "new.csv", "--selector", tmp_path / "n.abstain", "--json")
    assert json.loads(again.stdout)["alarms"] == []


def test_the_labels_asked_for_next_suffice_for_every_group(run, tmp_path):
    rng, segment = np.random.default_rng(0), np.tile(["x", "y"], 3000)
    columns = {"id": np.arange(6000).astype(str), "confidence": rng.random(6000), "segment": segment}
    polars.DataFrame({**columns, "error": rng.random(6000) < 0.05}).write_csv(tmp_path / "d.csv")
    run("calibrate", tmp_path / "d.csv", "--risk", "0.1", "--per", "segment", "-o", tmp_path / "s.abstain")
    files = (tmp_path / "s.abstain", "--state", tmp_path / "w.json")

    def label(n):
        run("recertify", *files, tmp_path / "d.csv", "--ask", n, "-o", tmp_path / "ask.csv")
        polars.read_csv(tmp_path / "ask.csv").with_columns(error=1).write_csv(tmp_path / "ask.csv")
        return run("recertify", *files, tmp_path / "ask.csv", width=300).stdout

    printed = label("400")
    assert "- x: nothing after 200 labels; the next test is at 320. It needs 120 more." in printed
    next_ask = re.search(r"Next: --ask (\d+), since", printed)[1]
    assert "- x: nothing after 320 labels; the next test is at 512." in label(next_ask)


def test_the_last_rows_are_reported_beside_all_time(run, tmp_path):
    errors = [0] * 3000 + [k % 13 == 0 for k in range(1000)]
    polars.DataFrame({"accepted": [True] * 4000, "error": errors}).write_csv(tmp_path / "s.csv")
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.1")
    assert "Last 1,000 labelled accepted rows (observed, not guaranteed): 7.70% wrong" in done.stdout
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--recent", "100", "--json")
    assert json.loads(done.stdout)["recent"]["recent_risk"] == 0.07
    refused = run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--recent", "0")
    assert (refused.returncode, "Invalid value for '--recent'" in refused.stderr) == (2, True)


def test_groups_of_a_table_and_of_the_selector_must_be_one_column(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = {"confidence": rng.random(2000), "segment": np.tile(["x", "y"], 1000), "town": ["u"] * 2000}
    polars.DataFrame({**rows, "correct": [True] * 2000}).write_csv(tmp_path / "old.csv")
    run("calibrate", tmp_path / "old.csv", "--risk", "0.1", "--per", "segment", "-o", tmp_path / "s.abstain")
    done = run("monitor", tmp_path / "old.csv", "--selector", tmp_path / "s.abstain", "--per", "town")
    assert "`--per` must be class, or segment as in the selector, got town" in done.stderr
    done = run("monitor", tmp_path / "old.csv", "--risk", "0.1", "--per", "town")
    assert "By town: no alarm in any of 1" in done.stdout
    assert "no monitor reads" not in done.stderr or "town" not in done.stderr


def test_groups_are_read_from_the_column_that_calibration_named(run, tmp_path):
    rng = np.random.default_rng(0)
    confidence, segment = rng.random(2000), np.tile(["x", "y"], 1000)
    rows = {"confidence": confidence, "segment": segment, "correct": rng.random(2000) < confidence**0.1}
    polars.DataFrame(rows).write_csv(tmp_path / "old.csv")
    asked = ("--risk", "0.1", "--per", "segment", "-o", tmp_path / "s.abstain")
    assert run("calibrate", tmp_path / "old.csv", *asked).returncode == 0
    done = run("monitor", tmp_path / "old.csv", "--selector", tmp_path / "s.abstain")
    assert (done.returncode, "segment" in done.stderr) == (0, False)
    polars.DataFrame({"confidence": confidence}).write_csv(tmp_path / "new.csv")
    done = run("monitor", tmp_path / "new.csv", "--selector", tmp_path / "s.abstain")
    assert "Row 1: `segment` must name a segment if `accepted` is missing" in done.stderr


def test_an_id_may_repeat_in_what_recertify_is_given(run, tmp_path):
    rng = np.random.default_rng(0)
    outputs = Outputs(confidences={"c": rng.random(900)}, errors=np.zeros(900), ids=np.arange(900) // 3)
    calibrate(outputs, risk=0.1).save(tmp_path / "s.abstain")
    rows = {"id": np.arange(900) // 3, "confidence": rng.random(900), "prediction": [f"p{k}" for k in range(900)]}
    polars.DataFrame(rows).write_csv(tmp_path / "d.csv")
    options = (tmp_path / "s.abstain", tmp_path / "d.csv", "--state", tmp_path / "r.json", "--ask", "250")
    assert run("recertify", *options, "-o", tmp_path / "ask.csv").returncode == 0
    asked = polars.read_csv(tmp_path / "ask.csv")
    assert asked.columns == ["id", "row", "prediction", "confidence", "error"]
    for name, row, prediction, confidence in asked.drop("error").iter_rows():
        assert (name, prediction) == ((row - 1) // 3, f"p{row - 1}")
        assert confidence == rows["confidence"][row - 1]
    asked.with_columns(error=polars.lit(0)).write_csv(tmp_path / "ask.csv")
    done = run("recertify", tmp_path / "s.abstain", tmp_path / "ask.csv", "--state", tmp_path / "r.json")
    assert "every cluster counts once" in " ".join(done.stdout.split())


def test_labels_for_recertify_may_say_what_is_correct(run, tmp_path):
    rng = np.random.default_rng(0)
    calibrate(Outputs(confidences={"c": rng.random(900)}, errors=np.zeros(900)), risk=0.1).save(tmp_path / "s.abstain")
    polars.DataFrame({"id": np.arange(900), "confidence": rng.random(900)}).write_csv(tmp_path / "d.csv")
    state = ("--state", tmp_path / "r.json")
    run("recertify", tmp_path / "s.abstain", tmp_path / "d.csv", *state, "--ask", "250", "-o", tmp_path / "ask.csv")
    asked = polars.read_csv(tmp_path / "ask.csv").drop("error")
    asked.write_csv(tmp_path / "none.csv")
    done = run("recertify", tmp_path / "s.abstain", tmp_path / "none.csv", *state)
    assert "must have a column error, correct or loss, got id, confidence" in " ".join(done.stderr.split())
    asked.with_columns(correct=polars.lit("yes")).write_csv(tmp_path / "ask.csv")
    done = run("recertify", tmp_path / "s.abstain", tmp_path / "ask.csv", *state)
    assert "Certified after 250 labels" in done.stdout, done.stderr


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_id_is_the_same_however_tables_write_it(run, tmp_path, ending):
    frames = [
        polars.DataFrame({"id": ["7", "8"], "confidence": [0.5, 0.6], "accepted": [True, True]}),
        polars.DataFrame({"id": ["7.0", "8.0"], "confidence": [0.5, 0.6], "accepted": [True, True], "error": [1, 0]}),
        polars.DataFrame({"id": [7.0, 8.0], "error": [1, 0]}),
    ]
    for k, frame in enumerate(frames):
        file = tmp_path / f"{k}.{ending}"
        {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet}[ending](file)
        options = ("--risk", "0.5", "--calibration", "9/10") if not k else ()
        done = run("monitor", file, *options, "--state", tmp_path / "w.json", "--json")
    document = json.loads(done.stdout)
    assert (document["acceptance"]["n"], document["risk"]["n"], document["skipped"]) == (2, 2, 2)


def test_the_state_goes_on(run, tmp_path):
    write(tmp_path / "s.csv", 12, 100)
    for expected in (100, 200):
        run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--state", tmp_path / "state.json")
        assert json.loads((tmp_path / "state.json").read_text())["risk"]["excess"]["n"] == expected
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.2", "--state", tmp_path / "state.json")
    assert done.returncode == 1
    assert "must belong to the selector and options given, got another monitor in" in done.stderr
    assert run("monitor", tmp_path / "s.csv", "--state", tmp_path / "state.json").returncode == 0
    assert json.loads((tmp_path / "state.json").read_text())["risk"]["excess"]["n"] == 300


def test_standard_input():
    command = [sys.executable, "-c", "from abstain.cli import main; main()", "monitor", "-", "--risk", "0.05", "--json"]
    done = subprocess.run(command, input='{"error": 0}\n{"error": 1}\n', capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["risk"]["n"] == 2


def test_an_alarm_on_standard_input_is_told_before_the_stream_ends():
    command = [sys.executable, "-c", "from abstain.cli import main; main()", "monitor", "-", "--risk", "0.05"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write('{"error": 1}\n' * 40)
        process.stdin.flush()
        assert "ALARM at row" in process.stdout.readline()
        process.stdin.close()
        assert process.wait() == 3


def test_a_selector_says_what_to_watch(run, tmp_path):
    """From calibration to decisions to the monitor: quiet on the same distribution, loud on another, on one state."""

    def outputs(n, seed, spread=3.0):
        rng = np.random.default_rng(seed)
        labels = rng.integers(3, size=n)
        return Outputs(logits=rng.normal(size=(n, 3)) + spread * np.eye(3)[labels], labels=labels)

    outputs(3000, 0).save(tmp_path / "cal")
    run("calibrate", tmp_path / "cal", "--risk", "0.02", "-o", tmp_path / "s.abstain")
    for name, made in (("same", outputs(2000, 1)), ("other", outputs(600, 2, spread=1.0))):
        made.save(tmp_path / name)
        run("select", tmp_path / "s.abstain", tmp_path / name, "-o", tmp_path / f"{name}.csv")
        frame = polars.read_csv(tmp_path / f"{name}.csv").with_columns(error=polars.Series(made.errors))
        frame.write_csv(tmp_path / f"{name}.csv")
    options = ("--selector", tmp_path / "s.abstain", "--state", tmp_path / "state.json", "--json")
    document = json.loads(run("monitor", tmp_path / "same.csv", *options).stdout)
    assert document["alarms"] == []
    assert document["risk"]["guaranteed"] == 0.02
    assert document["scores"]["n"] == document["acceptance"]["n"] == 2000
    done = run("monitor", tmp_path / "other.csv", *options)
    assert done.returncode == 3
    assert set(json.loads(done.stdout)["alarms"]) == {"risk", "acceptance", "scores"}


def test_rows_count_for_what_they_hold_and_no_more(run, tmp_path):
    rows = [{"confidence": 0.1 * (k % 10), "accepted": None if k < 5 else k % 2 == 0} for k in range(100)]
    rows[7]["confidence"] = None
    (tmp_path / "s.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    scores = ScoreMonitor.from_calibration(np.linspace(0, 1, 50))
    watch = DeploymentMonitor(None, AcceptanceMonitor.from_calibration(accepted=5, n=10), scores)
    (tmp_path / "state.json").write_text(watch.to_json())
    document = json.loads(run("monitor", tmp_path / "s.jsonl", "--state", tmp_path / "state.json", "--json").stdout)
    assert document["scores"]["n"] == 99
    assert document["acceptance"]["n"] == 95


def test_without_anything_to_watch_the_command_says_so(run, tmp_path):
    write(tmp_path / "s.csv", 5, 100)
    done = run("monitor", tmp_path / "s.csv", width=200)
    assert done.returncode == 1
    assert "`--selector`, `--risk` or `--calibration` must be given, got none" in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "accepted,error\n1,0\n1,maybe\n",
            "Row 2: `accepted`, `error` and `correct` must be true, false, yes, no, 1, 0 or empty, got 'maybe'",
        ),
        ("id,taken,wrong\n1,true,true\n", "must have a column error, got id, taken, wrong"),
        ("accepted|error\ntrue|true\n", "must have a column error"),
        ("accepted\ntrue\n", "must have a column error, got accepted"),
        ("", "must have a column error, got none"),
        ("accepted,error\n1,0,5\n", "must have 2 cells per row, got 3 in row 1"),
        ("error\n" + "1" * 200_000, "yes, no, 1, 0 or empty, got '" + "1" * 59 + "."),
        ("error,confidence\n1,high\n", "`confidence` must be a number or empty, got 'high'"),
    ],
)
def test_bad_rows_are_one_line(run, tmp_path, text, message):
    (tmp_path / "s.csv").write_text(text)
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.05", "--state", tmp_path / "state.json", width=300)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "state.json").exists()


def test_a_file_counts_whole_or_not_at_all(run, tmp_path):
    good = "error\n" + "0\n" * 15_000
    (tmp_path / "s.csv").write_text(good + "oops\n")
    options = ("--risk", "0.05", "--state", tmp_path / "state.json")
    assert run("monitor", tmp_path / "s.csv", *options).returncode == 1
    (tmp_path / "s.csv").write_text(good)
    run("monitor", tmp_path / "s.csv", *options)
    assert json.loads((tmp_path / "state.json").read_text())["risk"]["excess"]["n"] == 15_000


def test_spaces_and_the_mark_of_spreadsheets_do_not_hide_a_column(run, tmp_path):
    (tmp_path / "s.csv").write_bytes(b"\xef\xbb\xbfaccepted, error\n" + b"false,true\n" * 50 + b"true, false\n" * 50)
    document = json.loads(run("monitor", tmp_path / "s.csv", "--risk", "0.05", "--json").stdout)["risk"]
    assert (document["n"], document["errors"]) == (50, 0)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_a_live_stream_that_is_stopped_keeps_what_it_saw(tmp_path, ending):
    state = tmp_path / "state.json"
    command = [sys.executable, "-c", "from abstain.cli import main; main()", "monitor", "-", "--risk", "0.05"]
    with subprocess.Popen(
        [*command, "--state", str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdin.write('{"error": 1}\n' * 40)
        process.stdin.flush()
        assert "ALARM at row" in process.stdout.readline()
        assert state.exists()  # an alarm is kept at once
        time.sleep(0.3)
        process.send_signal(ending)
        process.wait()
    assert json.loads(state.read_text())["risk"]["excess"]["n"] == 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--delta", "0"), "`--delta` must be between 0 and 1"),
        (("--delta", "0.95"), "Did you mean 0.05?"),
        (("--calibration", "²/5"), "must be ACCEPTED/N"),
        (("--state", "nowhere/s.json"), "`--state` must be in a folder that exists"),
    ],
)
def test_bad_options_are_one_line(run, tmp_path, options, message):
    write(tmp_path / "s.csv", 5, 100)
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.05", *options, width=300)
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_broken_parquet_file_is_one_line(run, tmp_path):
    (tmp_path / "s.parquet").write_text("no table")
    done = run("monitor", tmp_path / "s.parquet", "--risk", "0.05", width=400)
    assert "must be a Parquet file" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("header", "wrong", "right"),
    [("correct", "0", "1"), ("error", "1", "0"), ("label,prediction", "cat,dog", "cat,cat")],
)
def test_labels_are_understood_in_several_ways(run, header, wrong, right, tmp_path):
    lines = [f"{header},accepted", *[f"{wrong},true"] * 30, *[f"{right},true"] * 70]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    document = json.loads(run("monitor", tmp_path / "d.csv", "--risk", "0.05", "--json").stdout)
    assert (document["risk"]["errors"], document["risk"]["n"]) == (30, 100)


def test_labels_of_rejected_samples_are_not_taken_for_accepted_ones(run, tmp_path):
    decisions = ["accepted", *["true", "false", "true", "false", "false"] * 20]
    (tmp_path / "d.csv").write_text("\n".join(decisions))
    (tmp_path / "late.csv").write_text("\n".join(["error", *["1"] * 50, *["0"] * 50]))
    options = ("--risk", "0.05", "--calibration", "400/1000", "--state", tmp_path / "w.json")
    assert run("monitor", tmp_path / "d.csv", *options).returncode == 0
    before = (tmp_path / "w.json").read_text()
    done = run("monitor", tmp_path / "late.csv", *options)
    assert "must have the column accepted if it has labels of rejected samples, got 100 labels for 40" in done.stderr
    assert (tmp_path / "w.json").read_text() == before


def test_an_empty_stream_is_an_error(run, tmp_path):
    (tmp_path / "d.csv").write_text("error,accepted\n")
    done = run("monitor", tmp_path / "d.csv", "--risk", "0.05")
    assert done.returncode == 1
    assert "`STREAM` must have rows, got none" in done.stderr


def test_two_monitors_do_not_share_a_state(run, tmp_path):
    from abstain._io.locks import alone_with

    (tmp_path / "d.csv").write_text("error\n1\n")
    with alone_with(tmp_path / "w.json"):
        done = run("monitor", tmp_path / "d.csv", "--risk", "0.05", "--state", tmp_path / "w.json")
    assert "must not be in use, got another process at work on it" in done.stderr
    assert run("monitor", tmp_path / "d.csv", "--risk", "0.05", "--state", tmp_path / "w.json").returncode == 0


def decisions(path, n=300, bad_from=100):
    """Rows with ids, all wrong from one on, in the format of the ending."""
    rows = [{"id": f"s{k}", "accepted": True, "error": k >= bad_from} for k in range(n)]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    else:
        frame = polars.DataFrame(rows)
        frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return path


def test_the_row_of_an_alarm_is_the_same_from_every_source(run, tmp_path):
    lines = {}
    for ending in ("csv", "parquet", "jsonl"):
        lines[ending] = run("monitor", decisions(tmp_path / f"d.{ending}"), "--risk", "0.05").stdout.splitlines()[0]
    command = [sys.executable, "-c", "from abstain.cli import main; main()", "monitor", "-", "--risk", "0.05"]
    text = (tmp_path / "d.jsonl").read_text()
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    lines["-"] = done.stdout.splitlines()[0]
    (line,) = set(lines.values())
    assert line.startswith("ALARM at row 1")  # among the first wrong ones, rows 101 to 199
    assert not line.startswith("ALARM at row 300")


def test_a_file_given_twice_counts_once_and_its_alarm_stands_until_acknowledged(run, tmp_path):
    options = ("--risk", "0.05", "--state", tmp_path / "w.json")
    first = run("monitor", decisions(tmp_path / "d.csv"), *options, "--json")
    document = json.loads(first.stdout)
    row = document["history"][0]["row"]
    assert document["history"][0] == {
        "name": "risk",
        "row": row,
        "acknowledged": None,
        "acknowledged_row": None,
        "group": None,
        "row_of_input": row,
    }
    again = run("monitor", tmp_path / "d.csv", *options)
    assert again.returncode == 3
    assert "ALARM at row" not in again.stdout
    assert f"ALARM standing since row {row}: the risk is above the guaranteed risk." in again.stdout
    assert "200 errors in 300 accepted" in again.stdout
    assert "Skipped 300 rows that were given before" in again.stdout

    heard = run("monitor", "--state", tmp_path / "w.json", "--acknowledge")
    assert heard.returncode == 0
    assert f"Acknowledged at row 600, standing since row {row}" in heard.stdout
    more = run("monitor", decisions(tmp_path / "e.jsonl", n=20, bad_from=30), *options)
    assert more.returncode == 0  # the ids s0 to s19 were counted before
    assert "Skipped 20 rows" in more.stdout
    polars.DataFrame({"id": [f"t{k}" for k in range(60)], "error": [True] * 60}).write_csv(tmp_path / "f.csv")
    worse = run("monitor", tmp_path / "f.csv", *options)
    assert worse.returncode == 3
    (alarm,) = [line for line in worse.stdout.splitlines() if "ALARM at row" in line]
    here, of_all = (int(word) for word in alarm.replace(")", "").split() if word.isdigit())
    assert of_all == here + 620


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--acknowledge",), "`--acknowledge` must come with `--state` and without a stream, got no `--state`"),
        (
            ("--acknowledge", "--state", "none.json"),
            "`--state` must be an existing file for --acknowledge, got none.json",
        ),
        (("--acknowledge", "--state", "quiet.json"), "`--acknowledge` must have an alarm to end, got none"),
        (("--risk", "0.05"), "`STREAM` must be a file, or - for standard input, got none"),
    ],
)
def test_calls_without_a_stream_are_told_what_is_missing(run, arguments, message):
    Path("quiet.json").write_text(DeploymentMonitor(RiskMonitor(risk=0.05, delta=0.05)).to_json())
    done = run("monitor", *arguments, width=300)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_columns_that_nothing_reads_are_named_once_on_standard_error(run, tmp_path):
    (tmp_path / "d.csv").write_text("id,error,town,confidence\n" + "".join(f"{k},0,x,1\n" for k in range(15_000)))
    done = run("monitor", tmp_path / "d.csv", "--risk", "0.05", "--json")
    assert done.stderr == "abstain: no monitor reads these columns: town, confidence.\n"
    assert json.loads(done.stdout)["risk"]["n"] == 15_000


def test_json_lines_without_what_is_watched_are_an_error_as_in_a_table(run, tmp_path):
    (tmp_path / "d.jsonl").write_text('{"accepted": true}\n{"label": 3}\n')
    done = run("monitor", tmp_path / "d.jsonl", "--risk", "0.05")
    assert done.returncode == 1
    assert "must have a column error, got accepted, label" in done.stderr


def test_rows_selected_from_outputs_without_ids_are_told_apart(run, tmp_path):
    """Two runs of the same size are other rows, and the same run is the same rows, labels or not."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=1000)
    logits = rng.normal(size=(1000, 3)) + 3 * np.eye(3)[labels]
    Outputs(logits=logits, labels=labels).save(tmp_path / "cal")
    run("calibrate", tmp_path / "cal", "--risk", "0.05", "-o", tmp_path / "s.abstain")
    parts = {"one": (logits[:400], None), "two": (logits[400:800], None), "late": (logits[:400], labels[:400])}
    ids = {}
    for name, (z, y) in parts.items():
        Outputs(logits=z, labels=y).save(tmp_path / name)
        run("select", tmp_path / "s.abstain", tmp_path / name, "-o", tmp_path / f"{name}.csv")
        ids[name] = set(polars.read_csv(tmp_path / f"{name}.csv")["id"])
    assert len(ids["one"]) == 400
    assert ids["one"] == ids["late"]
    assert not ids["one"] & ids["two"]
    for name in parts:
        options = ("--selector", tmp_path / "s.abstain", "--state", tmp_path / "w.json", "--json")
        document = json.loads(run("monitor", tmp_path / f"{name}.csv", *options).stdout)
    assert document["scores"]["n"] == 800
    assert document["acceptance"]["n"] == 800
    assert 0 < document["risk"]["n"] <= 400
    assert document["skipped"] == 0


def scored(path, n, seed, *, groups=("a", "b")):
    """Confidences, and errors that get rarer as they rise; no verdicts."""
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    columns = {"confidence": 1 - u, "correct": rng.random(n) >= 0.3 * u**2, "group": np.resize(groups, n)}
    polars.DataFrame(columns).write_csv(path)
    return path


@pytest.mark.parametrize("options", [(), ("--per", "domain")])
def test_rows_without_a_verdict_are_decided_as_select_decides_them(run, tmp_path, options):
    selector, late = tmp_path / "s.abstain", ("--state", tmp_path / "w.json")
    run("calibrate", scored(tmp_path / "cal.csv", 3000, 0), "--risk", "0.05", *options, "-o", selector)
    fresh = scored(tmp_path / "fresh.csv", 1500, 1, groups=("a", "b", "new"))
    run("select", selector, fresh, "-o", tmp_path / "decisions.csv")
    expected, result = (
        json.loads(run("monitor", stream, "--selector", selector, "--json", *more).stdout)
        for stream, more in ((tmp_path / "decisions.csv", ()), (fresh, late))
    )
    assert expected["acceptance"]["n"] == 1500
    assert 0 < expected["acceptance"]["accepted"] < 1500
    assert {name: result[name] for name in ("risk", "acceptance", "scores", "alarms")} == {
        name: expected[name] for name in ("risk", "acceptance", "scores", "alarms")
    }
    goes_on = json.loads(run("monitor", fresh, *late, "--json").stdout)  # the state knows the rule
    assert goes_on["acceptance"]["accepted"] == 2 * expected["acceptance"]["accepted"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "confidence,correct\n0.5,1\n,0\n",
            "Row 2: A labelled row must have `confidence` or `accepted`, got neither",
        ),
        ("confidence_vendor,correct\n0.5,1\n", "Run `abstain select` first"),
        ("Confidence_vendor,Correct\n0.5,1\n", "Run `abstain select` first"),
        ("label,prediction,logit_0,logit_1\n0,0,1,2\n", "Run `abstain select` first"),
    ],
)
def test_labels_that_a_selector_cannot_decide_are_refused_in_one_line(run, tmp_path, text, message):
    run("calibrate", scored(tmp_path / "cal.csv", 3000, 0), "--risk", "0.05", "-o", tmp_path / "s.abstain")
    (tmp_path / "d.csv").write_text(text)
    done = run("monitor", tmp_path / "d.csv", "--selector", tmp_path / "s.abstain", width=400)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_label_waits_for_its_turn_and_the_command_says_for_what(run, tmp_path):
    options = ("--risk", "0.05", "--state", tmp_path / "w.json")
    rows = [{"id": f"s{k}", "confidence": 0.5, "accepted": True, "error": True if k else None} for k in range(30)]
    polars.DataFrame(rows).write_csv(tmp_path / "d.csv")
    done = run("monitor", tmp_path / "d.csv", *options, "--label-window", "40", width=300)
    assert done.returncode == 0
    assert (
        "29 labels are waiting for those of 1 earlier accepted decisions, each for at most 40 accepted decisions "
        "(--label-window)." in done.stdout
    )
    refused = run("monitor", tmp_path / "d.csv", *options, "--label-window", "5", width=300)
    assert "`--label-window` must be that of the state, 40, got 5. Leave it out" in refused.stderr
    (tmp_path / "late.csv").write_text("id,error\ns0,0\n")
    late = run("monitor", tmp_path / "late.csv", *options, "--json")
    assert late.returncode == 3
    document = json.loads(late.stdout)
    assert (document["risk"]["n"], document["waiting"], document["pending"], document["late_labels"]) == (30, 0, 0, 0)


def test_labels_that_came_too_late_are_left_out_and_told(run, tmp_path):
    options = ("--risk", "0.05", "--state", tmp_path / "w.json")
    rows = [{"id": f"s{k}", "confidence": 0.5, "accepted": True, "error": False if k else None} for k in range(10)]
    polars.DataFrame(rows).write_csv(tmp_path / "d.csv")
    assert run("monitor", tmp_path / "d.csv", *options, "--label-window", "0").returncode == 0
    (tmp_path / "late.csv").write_text("id,error\ns0,1\n")
    done = run("monitor", tmp_path / "late.csv", *options, width=300)
    assert "0 errors in 9 accepted" in done.stdout
    assert (
        "Dropped 1 labels that arrived too late. If errors and correct answers are late at different rates, the risk "
        "alarm is invalid: start a new state with a larger --label-window." in done.stdout
    )


def test_a_state_of_an_earlier_version_is_refused_in_one_line_and_stays(run, tmp_path):
    run("monitor", decisions(tmp_path / "d.csv", bad_from=1000), "--risk", "0.05", "--state", tmp_path / "w.json")
    old = json.loads((tmp_path / "w.json").read_text())
    del old["version"]
    (tmp_path / "w.json").write_text(json.dumps(old))
    done = run("monitor", tmp_path / "d.csv", "--state", tmp_path / "w.json", width=300)
    assert done.returncode == 1
    assert "got one that another version of abstain wrote. Name a new file" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert json.loads((tmp_path / "w.json").read_text()) == old


def in_clusters(path, n, seed, *, spread=0.2):
    """Clusters of five rows with alike confidences; no verdicts."""
    rng = np.random.default_rng(seed)
    base = np.repeat(rng.random(n), 5)
    columns = {"id": np.repeat([f"{seed}-{k}" for k in range(n)], 5), "confidence": base + spread * rng.random(5 * n)}
    polars.DataFrame(columns | {"correct": rng.random(5 * n) < 0.6 + 0.4 * base}).write_csv(path)
    return path


def test_rows_of_an_id_are_one_cluster_where_calibration_had_clusters(run, tmp_path):
    selector = tmp_path / "s.abstain"
    run("calibrate", in_clusters(tmp_path / "cal.csv", 300, 0), "--coverage", "0.6", "-o", selector)
    fresh = in_clusters(tmp_path / "fresh.csv", 100, 1)
    options = ("--selector", selector, "--risk", "0.3")
    document = json.loads(run("monitor", fresh, *options, "--json").stdout)
    assert (document["acceptance"]["n"], document["scores"]["n"], "low" in document["risk"]) == (100, 100, False)
    assert 50 < document["risk"]["clusters"] <= 100
    assert document["alarms"] == []
    text = "\n".join(json.dumps(row) for row in polars.read_csv(fresh).to_dicts())
    command = [sys.executable, "-c", "from abstain.cli import main; main()", "monitor", "-", "--json"]
    done = subprocess.run([*command, *map(str, options)], input=text, capture_output=True, text=True, check=False)
    live = json.loads(done.stdout)
    assert {name: live[name] for name in ("risk", "acceptance", "scores")} == {
        name: document[name] for name in ("risk", "acceptance", "scores")
    }
    message = run("monitor", fresh, *options, width=300).stdout
    assert "of 100 ids; calibration allows" in message
    assert f"{document['risk']['clusters']} clusters; errors minus allowed errors: " in message
    refused = run("monitor", fresh, "--selector", selector, "--calibration", "6/10", width=300)
    assert "`--calibration` must be left out for a selector calibrated with ids" in refused.stderr


def test_the_command_counts_mixed_clusters_as_arrays_are_counted(run, tmp_path):
    run("calibrate", in_clusters(tmp_path / "cal.csv", 300, 0), "--coverage", "0.6", "-o", tmp_path / "s.abstain")
    in_clusters(tmp_path / "f.csv", 100, 1)
    rows = polars.read_csv(tmp_path / "f.csv").sample(fraction=1.0, shuffle=True, seed=0)
    rows.write_csv(tmp_path / "f.csv")
    options = ("--selector", tmp_path / "s.abstain", "--risk", "0.3", "--json")
    document = json.loads(run("monitor", tmp_path / "f.csv", *options).stdout)
    selector = Selector.load(tmp_path / "s.abstain")
    ids, confidence, correct = (rows[name].to_numpy() for name in ("id", "confidence", "correct"))
    accepted = confidence > selector.threshold.value
    monitor = DeploymentMonitor.of(selector, risk=0.3).observe_confidence(confidence, ids=ids)
    monitor = monitor.observe_accepted(accepted, ids=ids).observe_errors(np.where(accepted, ~correct, np.nan), ids=ids)
    for name, part in monitor.parts.items():
        assert document[name] == pytest.approx(part.numbers(), rel=1e-9)


def test_rows_of_an_id_that_come_in_another_file_are_left_out_and_told(run, tmp_path):
    selector, state = tmp_path / "s.abstain", tmp_path / "w.json"
    run("calibrate", in_clusters(tmp_path / "cal.csv", 300, 0), "--coverage", "0.6", "-o", selector)
    fresh = polars.read_csv(in_clusters(tmp_path / "fresh.csv", 20, 1))
    fresh[:52].write_csv(tmp_path / "one.csv")
    fresh[52:].write_csv(tmp_path / "two.csv")
    run("monitor", tmp_path / "one.csv", "--selector", selector, "--state", state)
    done = run("monitor", tmp_path / "two.csv", "--state", state, width=300)
    assert (
        "Left out 3 rows that came after the cluster of their id was closed. Give all rows of an id in one file"
        in done.stdout
    )
    assert json.loads(state.read_text())["scores"]["n"] == 20


def test_labels_that_no_guarantee_reads_are_explained(run, tmp_path):
    outputs = Outputs(logits=np.random.default_rng(0).normal(size=(400, 2)), labels=np.arange(400) % 2)
    selector = calibrate(outputs, cost=0.4)
    selector.save(tmp_path / "s.abstain")
    polars.DataFrame({**selector.decide(outputs)}).write_csv(tmp_path / "d.csv")
    watched = ("monitor", tmp_path / "d.csv", "--selector", tmp_path / "s.abstain")
    assert "- Risk: not monitored, and labels are not read" in run(*watched, width=300).stdout
    assert "not monitored" not in run(*watched, "--risk", "0.9", width=300).stdout


def test_labels_of_no_known_decision_and_new_states_are_reported(run, tmp_path):
    polars.DataFrame({"id": list("abcdef"), "accepted": [True] * 6}).write_csv(tmp_path / "d.csv")
    polars.DataFrame({"id": ["a", "x", "y"], "error": [False] * 3}).write_csv(tmp_path / "l.csv")
    options = ("--risk", "0.05", "--calibration", "9/10", "--state", tmp_path / "w.json")
    assert "started a new state" in run("monitor", tmp_path / "d.csv", *options).stderr
    done = run("monitor", tmp_path / "l.csv", *options)
    assert "Labels whose ids belong to no decision known here: 2." in done.stdout
    assert "started a new state" not in done.stderr


def test_labels_for_decisions_that_a_new_state_cannot_know_are_refused(run, tmp_path):
    (tmp_path / "d.csv").write_text("id,accepted,confidence\n" + "".join(f"{k},1,{k / 9}\n" for k in range(9)))
    (tmp_path / "labels.csv").write_text("id,error\n" + "".join(f"{k},0\n" for k in range(9)))
    watch = ("--risk", "0.05", "--calibration", "8/9", "--state")
    assert run("monitor", tmp_path / "d.csv", *watch, tmp_path / "watch.json").returncode == 0
    done = run("monitor", tmp_path / "labels.csv", *watch, tmp_path / "wacth.json")
    assert done.returncode == 1
    assert "wacth.json, which does not exist. Check its name, or give the decisions first" in done.stderr
    assert not (tmp_path / "wacth.json").exists()
    assert run("monitor", tmp_path / "labels.csv", *watch, tmp_path / "watch.json").returncode == 0


LABEL, DECISION, RECORD = (
    '{"id": "a", "error": 0}',
    '{"id": "a", "accepted": 1}',
    '{"sequence": 7, "id": "a", "error": 0}',
)


@pytest.mark.parametrize("live", [True, False], ids=["standard input", "file"])
@pytest.mark.parametrize(
    ("lines", "refused"),
    [
        ([LABEL] * 3, True),
        ([LABEL, DECISION], True),
        ([DECISION, LABEL], False),
        (['{"error": 0}'] * 2, False),
        (['{"error": 0}', LABEL], True),
        ([RECORD, DECISION], False),
    ],
    ids=[
        "labels",
        "a label first",
        "a decision first",
        "no ids",
        "one without an id first",
        "a log without its first part",
    ],
)
def test_labels_before_any_decision_are_refused_from_a_file_and_from_a_stream(run, tmp_path, live, lines, refused):
    source, state = tmp_path / "l.jsonl", tmp_path / "new.json"
    source.write_text("\n".join(lines))
    done = run("monitor", "-" if live else source, "--risk", "0.05", "--state", state, stdin=source)
    assert done.returncode == refused
    assert ("must know the decisions whose labels are in" in done.stderr) == refused
    assert state.exists() == (not refused)
    assert state.exists() != refused


def test_a_second_file_of_collected_rows_counts(run, tmp_path):
    from abstain.collect import CallableModel, Data, collect

    model = CallableModel(lambda inputs: np.stack(inputs))
    for name, seed in (("first", 1), ("second", 2)):
        rng = np.random.default_rng(seed)
        labels = rng.integers(3, size=600)
        collect(model, Data(rng.normal(size=(600, 3)) + 4 * np.eye(3)[labels], labels=labels), tmp_path / name)
    calibrate(Outputs.load(tmp_path / "first"), risk=0.1).save(tmp_path / "s.abstain")
    for k, name in enumerate(("first", "second"), start=1):
        assert run("select", tmp_path / "s.abstain", tmp_path / name, "-o", tmp_path / f"{name}.csv").returncode == 0
        options = ("--selector", tmp_path / "s.abstain", "--state", tmp_path / "w.json", "--json")
        done = run("monitor", tmp_path / f"{name}.csv", *options)
        document = json.loads(done.stdout)
        assert (document["rows"], document["skipped"], document["acceptance"]["n"]) == (600 * k, 0, 600 * k), (
            done.stderr
        )
