"""`abstain compare` in a process of its own."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from abstain import Outputs
from abstain._extras import MissingExtraError
from abstain.cli.app import app
from abstain.cli.compare import _names


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    labels = np.random.default_rng(0).integers(3, size=500)
    for name, strength in (("old", 1.5), ("new", 3.0)):
        noise = np.random.default_rng(int(strength)).normal(size=(500, 3))
        logits = strength * np.eye(3)[labels] + noise
        Outputs(logits=logits, labels=labels, ids=np.arange(500)).save(folder / name)
    Outputs(logits=logits, labels=labels, ids=np.arange(500) + 500).save(folder / "others")
    return folder


def test_the_verdict_comes_first_and_every_file_is_written(run, path):
    files = [path / f"c.{ending}" for ending in ("png", "md", "html")]
    options = ("--figure", files[0], "-o", files[1], "--report", files[2])
    done = run("compare", path / "old", path / "new", "--risk", "0.05", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new is better after rejection on these rows (500 rows): AURC")
    assert "Coverage at the same risk, %" in done.stdout
    assert all(file.stat().st_size for file in files)
    assert "<h1>old and new, compared</h1>" in files[2].read_text()


def test_json_is_one_document(run, path):
    done = run("compare", path / "old", path / "new", "--score", "energy", "--score-b", "max_softmax", "--json")
    document = json.loads(done.stdout)
    assert document["scores"] == ["energy", "max_softmax"]
    assert set(document["mixes"][0]["risk"][0]) == {"at", "a", "b", "difference", "se", "low", "high"}


def test_other_samples_are_refused_in_one_line(run, path):
    done = run("compare", path / "old", path / "others")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "abstain: `b` must have samples of `a`, got no id in common: '500' for '0'. Run both models on the same rows.\n"
    )


@pytest.mark.parametrize(
    ("a", "b", "names"),
    [
        ("x/cal.csv", "x/new.csv", ("cal.csv", "new.csv")),
        ("cal.csv", "../y/cal.csv", ("x/cal.csv", "y/cal.csv")),
        ("cal.csv", "../x/cal.csv", ("cal.csv (A)", "cal.csv (B)")),
    ],
)
def test_two_files_of_one_name_are_told_apart(a, b, names, tmp_path, monkeypatch):
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path / "x")
    assert _names(Path(a), Path(b)) == names


def test_files_that_cannot_be_written_are_known_before_work_begins(tmp_path, monkeypatch):
    ask = ("compare", str(tmp_path / "none"), str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"`--output` must end in \.md or \.html, got c\.tex"):
        CliRunner().invoke(app, [*ask, "-o", "c.tex"], catch_exceptions=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for option in ("--report", "-o", "--figure"):
        goal = str(tmp_path / ("c.png" if option == "--figure" else "c.html"))
        with pytest.raises(MissingExtraError, match="needs matplotlib"):
            CliRunner().invoke(app, [*ask, option, goal], catch_exceptions=False)


@pytest.mark.parametrize("width", [80, 200])
def test_tables_are_whole_at_any_width(run, path, width):
    long = path / "a-network-with-a-rather-long-name-of-its-own"
    if not long.exists():
        Outputs.load(path / "new").save(long)
    done = run("compare", path / "old", long, "--risk", "0.05", width=width)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert (f"A is old, B is {long.name}." in " ".join(lines)) == (width == 80)
    assert sum(" SE " in line and "95% interval" in line for line in lines) >= 4  # no head of a table is broken
    assert sum("significant" in line.split() for line in lines) >= 4


def test_graded_answers_have_mean_losses_and_not_wrong_answers(run, tmp_path):
    rng = np.random.default_rng(0)
    for name, worst in (("old", 0.9), ("new", 0.4)):
        u = np.arange(500) / 500
        Outputs(confidences={"c": 1 - u}, losses=worst * rng.random(500) * u).save(tmp_path / name)
    done = run(
        "compare", tmp_path / "old", tmp_path / "new", "--risk", "0.1", "--report", tmp_path / "c.html", width=500
    )
    assert "Where both accept 80% of the rows, the mean loss is 0." in done.stdout
    assert "At a mean loss of 0.1 they accept" in done.stdout
    assert "wrong" not in done.stdout
    assert "are wrong" not in (tmp_path / "c.html").read_text()
