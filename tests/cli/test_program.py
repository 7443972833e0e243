"""Commands are printed as they can be typed."""

import subprocess
import sys
from pathlib import Path

import pytest

from abstain.cli.terminal import program

HERE = Path(sys.executable).with_name("abstain")


@pytest.mark.skipif(not HERE.exists(), reason="abstain is not installed in this environment")
def test_an_environment_that_is_active_needs_no_path(monkeypatch):
    monkeypatch.setenv("PATH", str(HERE.parent))
    assert program() == "abstain"


@pytest.mark.skipif(not HERE.exists(), reason="abstain is not installed in this environment")
def test_the_program_of_an_environment_that_is_not_active_runs_as_printed(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert program() == str(HERE)
    monkeypatch.chdir(HERE.parent.parent)
    assert program() == "bin/abstain"
    done = subprocess.run(f"{program()} --version", shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.strip()


def test_without_a_script_the_module_is_called(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my python"))
    assert program() == f"'{tmp_path}/my python' -m abstain"
