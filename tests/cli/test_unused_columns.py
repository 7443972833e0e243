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


@pytest.mark.parametrize("path", ["t.csv", "many/t.parquet", "many"])
def test_evaluate_says_so_among_its_notes(path, tables):
    result = CliRunner().invoke(app, ["evaluate", str(tables / path), "--json"])
    assert WORDS in json.loads(result.stdout)["notes"]


@pytest.mark.parametrize(
    ("command", "path"), [("calibrate --risk 0.2", "t.csv"), ("sketch", "many/t.parquet"), ("sketch", "many")]
)
def test_other_commands_say_so_on_standard_error(command, path, tables):
    result = CliRunner().invoke(
        app, [*command.split(), str(tables / path), "-o", str(tables / "goal.sketch"), "--json"]
    )
    assert result.stderr == f"abstain: {WORDS}\n"
    json.loads(result.stdout)


def test_a_column_to_group_by_must_be_there(tables):
    asked = ["calibrate", str(tables / "t.csv"), "-o", "s", "--risk", "0.2", "--per", "town"]
    result = CliRunner().invoke(app, asked)
    assert str(result.exception) == "`--per` must be class, group or a column of the table, got 'town'."


def test_a_report_says_so_on_standard_error_and_on_the_page(tables):
    result = CliRunner().invoke(app, ["report", str(tables / "t.csv"), "-o", str(tables / "a.html"), "--json"])
    assert result.stderr == f"abstain: {WORDS}\n"
    assert WORDS in (tables / "a.html").read_text()


def test_a_comparison_says_so_of_each_run_among_its_notes(tables):
    pl.read_csv(tables / "t.csv").rename({"patient": "town"}).write_csv(tables / "b.csv")
    result = CliRunner().invoke(app, ["compare", str(tables / "t.csv"), str(tables / "b.csv"), "--json"])
    notes = json.loads(result.stdout)["notes"]
    assert {f"t.csv: {WORDS}", f"b.csv: {WORDS.replace('patient', 'town')}"} <= set(notes)


def test_a_certificate_says_so_of_its_fresh_rows(tables):
    goal = str(tables / "s.abstain")
    CliRunner().invoke(app, ["calibrate", str(tables / "t.csv"), "--risk", "0.3", "-o", goal])
    c = np.random.default_rng(1).random(400)
    pl.DataFrame({"confidence": c, "correct": c > 0.3, "patient": np.arange(400) // 2}).write_csv(tables / "u.csv")
    result = CliRunner().invoke(app, ["certify", goal, "--on", str(tables / "u.csv"), "--json"])
    assert result.stderr == f"abstain: {WORDS}\n"
    json.loads(result.stdout)
