"""`abstain compare` in a process of its own."""

import json

import numpy as np
import pytest
from tests_cli import run

from abstain import Outputs


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    labels = np.random.default_rng(0).integers(3, size=500)
    for name, strength in (("old", 1.5), ("new", 3.0)):
        noise = np.random.default_rng(int(strength)).normal(size=(500, 3))
        logits = strength * np.eye(3)[labels] + noise
        Outputs(logits=logits, labels=labels, ids=np.arange(500)).save(folder / name)
    Outputs(logits=logits, labels=labels, ids=np.arange(500) + 500).save(folder / "others")
    return folder


def test_the_verdict_comes_first_and_every_file_is_written(place):
    files = [place / f"c.{ending}" for ending in ("png", "md", "html")]
    options = ("--figure", files[0], "--markdown", files[1], "--report", files[2])
    done = run("compare", place / "old", place / "new", "--risk", "0.05", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new is better after rejection on in-distribution samples (500 rows): AURC")
    assert "Coverage at the same risk, %" in done.stdout
    assert all(file.stat().st_size for file in files)
    assert "<h1>old and new, compared</h1>" in files[2].read_text()


def test_json_is_one_document(place):
    done = run("compare", place / "old", place / "new", "--score", "energy", "--score-b", "max_softmax", "--json")
    found = json.loads(done.stdout)
    assert found["scores"] == ["energy", "max_softmax"]
    assert set(found["mixes"][0]["risk"][0]) == {"at", "a", "b", "difference", "se", "low", "high"}


def test_other_samples_are_refused_in_one_line(place):
    done = run("compare", place / "old", place / "others")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "abstain: `b` must have samples of `a`, got no id in common: '500' for '0'.\n"
