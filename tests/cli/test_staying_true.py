"""The commands of docs/staying-true.md, typed as they stand there, print what stands there."""

import re
from pathlib import Path

import polars

from abstain import Outputs, calibrate

PAGE = Path(__file__).parents[2] / "docs" / "staying-true.md"


def test_the_commands_of_the_walk_through_print_what_the_page_shows(run, digits, tmp_path):
    held_out, first_week = digits[digits.shift == "none"].split(0.7, seed=1)
    calibrate(held_out, score="confidence_margin", risk=0.02).save(tmp_path / "selector.abstain")
    first_week.save(tmp_path / "week1")
    noisy = digits[digits.domain == "noise"]
    Outputs(logits=noisy.logits, labels=noisy.labels, ids=[f"noisy-{i}" for i in noisy.ids]).save(tmp_path / "week2")
    [block] = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for command, shown in re.findall(r"^\$ abstain (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        done = run(*command.split())
        assert " ".join(done.stdout.split()) == " ".join(shown.split()), command
        assert done.returncode == (3 if "ALARM" in shown else 0)
        if "--ask" in command:
            label(tmp_path)


def label(folder):
    asked = polars.read_csv(folder / "to-label.csv").drop("error")
    truth = polars.read_csv(folder / "decisions-2.csv").select("id", error=polars.col("error").cast(int))
    asked.join(truth, on="id", maintain_order="left").write_csv(folder / "to-label.csv")
