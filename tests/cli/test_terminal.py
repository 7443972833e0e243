"""Names and messages that would command a terminal."""

import os
import pty
import subprocess
import sys

import numpy as np
import pytest

from abstain import Outputs, Risk, calibrate
from abstain.cli.terminal import ESCAPED

HOSTILE = "\x1b]0;owned\x07\x1b[31m[/x]\x9b2J\u202e"


@pytest.fixture
def hostile(tmp_path):
    """Names of all kinds that hold escape sequences."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(60, 3)) * 3
    outputs = Outputs(
        logits=logits,
        labels=np.argmax(logits, axis=1) * (rng.random(60) > 0.1),
        domain=np.where(np.arange(60) % 2, f"a{HOSTILE}", "b"),
        confidences={f"confidence_{HOSTILE}": rng.random(60)},
        class_names=(f"cat{HOSTILE}", "dog", "eel"),
    )
    outputs.save(tmp_path / "run")
    calibrate(outputs, Risk(0.5, per="class")).save(tmp_path / "s.abstain")
    rows = "".join(f"{k / 50},{k % 2},x\n" for k in range(50))
    (tmp_path / "t.csv").write_text(f"confidence,correct,{HOSTILE}\n{rows}")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "evaluate run --all",
        pytest.param("evaluate run --score nope", marks=pytest.mark.thorough),
        "evaluate t.csv",
        "calibrate run --risk 0.5 --per class -o new.abstain",
        pytest.param("calibrate run --risk 0.5 --per domain -o new.abstain", marks=pytest.mark.thorough),
        "certify s.abstain",
        "select s.abstain run -o d.csv",
        pytest.param("compare run run", marks=pytest.mark.thorough),
        "sketch run --score energy --per group -o a.sketch",
        f"evaluate {HOSTILE.replace('/', '')}.csv",
        pytest.param("evaluate run --json", marks=pytest.mark.thorough),
        pytest.param("calibrate run --risk 0.5 --per class -o new.abstain --json", marks=pytest.mark.thorough),
    ],
)
def test_no_control_character_of_a_name_reaches_a_terminal(hostile, line):
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "abstain", *line.split()]
    known = os.environ | {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    with subprocess.Popen(words, cwd=hostile, stdin=theirs, stdout=theirs, stderr=theirs, env=known) as process:
        os.close(theirs)
        result = b""
        while part := _read(ours):
            result += part
    os.close(ours)
    text = result.decode().replace("\r\n", "\n")
    assert process.returncode in (0, 1)
    assert "bug in abstain" not in text
    assert [letter for letter in text if ord(letter) in ESCAPED] == []


def _read(descriptor):
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # nobody writes any more
        return b""
