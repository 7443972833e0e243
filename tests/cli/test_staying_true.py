"""The commands of docs/staying-true.md, typed as they stand there, print what stands there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from abstain import Outputs, calibrate

PAGE = Path(__file__).parents[2] / "docs" / "staying-true.md"


def test_the_commands_of_the_walk_through_print_what_the_page_shows(run, digits, tmp_path):
    held_out, first_week = digits[digits.shift == "none"].split(0.7, seed=1)
    calibrate(held_out, score="confidence_margin", risk=0.02).save(tmp_path / "selector.abstain")
    first_week.save(tmp_path / "week1")
    noisy = digits[digits.domain == "noise"]
    Outputs(logits=noisy.logits, labels=noisy.labels, ids=[f"noisy-{i}" for i in noisy.ids]).save(tmp_path / "week2")
    [block] = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for program, command, shown in re.findall(r"^\$ (\w+) (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
        own = [sys.executable, *shlex.split(command, comments=True)]
        done = run(*command.split()) if program == "abstain" else subprocess.run(own, capture_output=True, text=True)
        assert " ".join(done.stdout.split()) == " ".join(shown.split()), command
        assert done.returncode == (3 if "ALARM" in shown else 0)
