"""What `abstain evaluate` writes beside what it prints."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from abstain import Outputs, calibrate
from abstain.cli.app import app


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    c = rng.random(400)
    errors = rng.random(400) < 0.4 * (1 - c)
    outputs = Outputs(confidences={"a": c, "b": rng.random(400)}, errors=errors, domain=["x", "y"] * 200)
    outputs.save(tmp_path / "run")
    calibrate(outputs, score="a", coverage=0.5).save(tmp_path / "s.abstain")
    return tmp_path / "run"


def called(*line):
    result = CliRunner().invoke(app, [str(part) for part in ("evaluate", *line)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_tables_go_where_the_ending_says_and_figures_to_a_folder(folder, tmp_path):
    goals = [tmp_path / name for name in ("t.md", "t.tex", "t.csv", "t.parquet")]
    shown = called(folder, "--figures", tmp_path / "figures", *(part for goal in goals for part in ("-o", goal)))
    assert all(goal.stat().st_size for goal in goals)
    assert (tmp_path / "figures" / "group.svg").exists()
    assert "scale: softmax scores over the scale of the logits: left out, as there are no logits." in shown
    assert f"{tmp_path}/figures/guarantee{{.png,.svg,.pdf}}: certified against realised risk" in shown


def test_figures_are_at_the_threshold_of_a_selector_and_named_in_the_document(folder, tmp_path):
    line = (folder, "--figures", tmp_path / "figures", "--selector", tmp_path / "s.abstain", "--json")
    document = json.loads(called(*line))
    assert len(document["figures"]) == 7


def test_a_file_is_no_folder_of_figures(folder, tmp_path):
    (tmp_path / "taken").write_text("")
    result = CliRunner().invoke(app, ["evaluate", str(folder), "--figures", str(tmp_path / "taken")])
    assert str(result.exception).startswith("`--figures` must be a folder, got the file ")
