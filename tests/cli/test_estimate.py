"""`abstain estimate`: the risk on outputs without labels."""

import json

import numpy as np
import pytest

from abstain import Outputs, calibrate
from abstain.datasets import digits


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("estimate"), digits()
    clean, noisy = rows[rows.domain == "clean"], rows[rows.domain == "noise"]
    calibrate(clean, risk=0.02).save(folder / "s.abstain")
    clean.save(folder / "clean")
    Outputs(logits=noisy.logits).save(folder / "new")
    return folder


def test_the_table_names_every_method_and_says_that_nothing_is_guaranteed(run, folder):
    done = run("estimate", folder / "s.abstain", folder / "new", "--reference", folder / "clean")
    assert done.returncode == 0
    for words in ("cbpe (calibrated confidence)", "atc (average thresholded confidence)", "reference rows, observed"):
        assert words in done.stdout
    assert "An estimate, not a guarantee" in done.stdout
    assert done.stderr == ""


def test_json_is_one_document(run, folder):
    done = run("estimate", folder / "s.abstain", folder / "new", "--reference", folder / "clean", "--json")
    document = json.loads(done.stdout)
    assert document["guarantee"] is False
    assert document["spread"][0] <= document["risk"] <= document["spread"][1]
    assert 0 < document["coverage"] <= 1


def test_tables_of_confidences_leave_out_what_needs_probabilities(run, tmp_path):
    rng = np.random.default_rng(0)
    c = rng.random(800)
    lines = [f"{value},{int(rng.random() > value)}" for value in c]
    (tmp_path / "old.csv").write_text("confidence,error\n" + "\n".join(lines))
    (tmp_path / "new.csv").write_text("confidence\n" + "\n".join(map(str, c**2)))
    calibrate(Outputs.load(tmp_path / "old.csv"), coverage=0.8).save(tmp_path / "s.abstain")
    done = run("estimate", tmp_path / "s.abstain", tmp_path / "new.csv", "--reference", tmp_path / "old.csv")
    assert done.returncode == 0
    assert "doc is left out: it needs logits or probabilities." in done.stdout


def test_an_unknown_method_is_one_line(run, folder):
    asked = ("--reference", folder / "clean", "--method", "cbp")
    done = run("estimate", folder / "s.abstain", folder / "new", *asked)
    assert done.returncode == 1
    assert "Did you mean cbpe?" in done.stderr
    assert done.stderr.count("\n") == 1
