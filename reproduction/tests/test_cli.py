"""`abstain reproduce` as a user meets it."""

import json
import subprocess
import sys

import pytest

from abstain_reproduction import claim_runs
from abstain_reproduction.claims import ClaimVerdict
from abstain_reproduction.cli import reproduce
from abstain_reproduction.experiment import Experiment
from abstain_reproduction.findings import Findings
from abstain_reproduction.registry import EXPERIMENTS


def run(*arguments):
    command = [sys.executable, "-m", "abstain", "reproduce", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_reproduce_lists_and_runs_experiments(tmp_path):
    assert "magika" in run().stdout
    done = run("digits", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ranks best" in done.stdout
    assert (tmp_path / "digits" / "risk-coverage.png").exists()


def test_the_long_version_of_an_experiment_leaves_the_short_one_in_place(tmp_path, monkeypatch, capsys):
    experiment = Experiment(
        "told", "A title", lambda setting: Findings(words=f"long: {setting.long}"), frozenset({"long"})
    )
    monkeypatch.setitem(EXPERIMENTS, "told", experiment)
    for long in (False, True):
        reproduce("told", folder=tmp_path, long=long)
    assert "long: False" in (tmp_path / "told" / "findings.md").read_text()
    assert "long: True" in (tmp_path / "told-long" / "findings.md").read_text()
    assert "told-long" in capsys.readouterr().out


def test_claims_run_what_is_missing_and_write_the_pages(tmp_path, monkeypatch, capsys):
    pytest.importorskip("PIL")
    findings = Findings(words="Done.", verdicts=(ClaimVerdict("scale-limit", "held", "so", "this"),))
    monkeypatch.setattr(claim_runs, "EXPERIMENTS", {"one": Experiment("one", "One", lambda _: findings)})
    (tmp_path / "docs").mkdir()
    for line in ("one: run", "one: as it was"):
        reproduce("claims", folder=tmp_path / "found", run=True, docs=tmp_path / "docs")
        captured = capsys.readouterr()
        assert captured.err == f"{line}\n"
        assert "1 times in all: 1 held" in captured.out
    assert "| held | one | this | so |" in (tmp_path / "docs" / "claims.md").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("fashon", "Did you mean fashion?"),
        ("toy --limit 5", "`--limit` must be left out for toy, got 5. It takes none."),
        ("claims --limit 5", "`--limit` must be left out for claims, got 5. It takes none."),
        ("claims --long", "`--long` must be left out for claims, got True. It takes none."),
        ("toy --run", "`--run` must be left out for toy, got it. Only claims takes it."),
        (
            "reviews",
            "in data/rating-model/rating_model/data/data.csv, got none. `scripts/reproduce reviews` fetches what the",
        ),
    ],
)
def test_wrong_input_is_named_in_one_line(line, message):
    done = run(*line.split())
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_experiments_are_listed_as_json_too():
    assert {"name", "title"} == set(json.loads(run("--json").stdout)["experiments"][0])


def test_the_help_lists_the_options():
    assert "--paper-code" in run("--help").stdout
