"""`abstain monitor` as a user meets it."""

import json
import subprocess
import sys

import polars
import pytest
from tests_cli import run


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
def test_counts_and_verdict(tmp_path, ending):
    write(tmp_path / f"s.{ending}", 5, 100)
    done = run("monitor", tmp_path / f"s.{ending}", "--risk", "0.05", "--json")
    found = json.loads(done.stdout)
    assert (found["n"], found["errors"], found["alarm"]) == (100, 5, False)
    assert done.returncode == 0


def test_an_alarm_has_its_own_exit_code(tmp_path):
    write(tmp_path / "s.csv", 40, 100)
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.05")
    assert done.returncode == 3
    assert "ALARM: the risk is above 0.05. 40 errors in 100" in done.stdout


def test_the_share_accepted_is_watched_without_labels(tmp_path):
    write(tmp_path / "s.csv", 5, 100)  # 101 of 151 accepted
    same = run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--calibration", "670/1000", "--json")
    assert not json.loads(same.stdout)["acceptance_alarm"]
    other = run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--calibration", "980/1000")
    assert other.returncode == 3
    assert "ALARM: the share accepted has left" in other.stdout
    assert "nothing is certified about the risk" in other.stdout
    assert "must be ACCEPTED/N" in run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--calibration", "x").stderr


def test_the_state_goes_on(tmp_path):
    write(tmp_path / "s.csv", 12, 100)
    for expected in (100, 200):
        run("monitor", tmp_path / "s.csv", "--risk", "0.1", "--state", tmp_path / "state.json")
        assert json.loads((tmp_path / "state.json").read_text())["n"] == expected
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.2", "--state", tmp_path / "state.json")
    assert done.returncode == 1
    assert "must be of the same risk and delta" in done.stderr


def test_standard_input():
    command = [sys.executable, "-c", "from abstain.cli import main; main()", "monitor", "-", "--risk", "0.05", "--json"]
    done = subprocess.run(command, input='{"error": 0}\n{"error": 1}\n', capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["n"] == 2


@pytest.mark.parametrize(
    ("text", "message"), [("accepted,error\n1,maybe\n", "must be true, false or empty, got 'maybe'")]
)
def test_bad_rows_are_one_line(tmp_path, text, message):
    (tmp_path / "s.csv").write_text(text)
    done = run("monitor", tmp_path / "s.csv", "--risk", "0.05")
    assert done.returncode == 1
    assert message in done.stderr
