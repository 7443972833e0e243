"""A column that nothing reads is named, whichever way the table is read."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from abstain.cli.app import app

WORDS = "Columns that are not used: patient. Rows count as independent: a column `id` names what may repeat."


@pytest.fixture
def tables(tmp_path):
    c = np.random.default_rng(0).random(400)
    frame = pl.DataFrame({"confidence": c, "correct": c > 0.3, "patient": np.arange(400) // 2})
    frame.write_csv(tmp_path / "t.csv")
    (tmp_path / "many").mkdir()
    frame.write_parquet(tmp_path / "many" / "t.parquet")
    return tmp_path


@pytest.mark.parametrize("place", ["t.csv", "many/t.parquet", "many"])
def test_evaluate_says_so_among_its_notes(place, tables):
    found = CliRunner().invoke(app, ["evaluate", str(tables / place), "--json"])
    assert WORDS in json.loads(found.stdout)["notes"]


@pytest.mark.parametrize(
    ("command", "place"), [("calibrate --risk 0.2", "t.csv"), ("sketch", "many/t.parquet"), ("sketch", "many")]
)
def test_other_commands_say_so_on_standard_error(command, place, tables):
    found = CliRunner().invoke(app, [*command.split(), str(tables / place), "-o", str(tables / "goal"), "--json"])
    assert found.stderr == f"abstain: {WORDS}\n"
    json.loads(found.stdout)
