"""A missing extra is said in one line, with a pip line that works where abstain is."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

import pytest

import abstain
from abstain import _extras as extras
from abstain._extras import MissingExtraError, pip_line, require, require_all

SOURCE = Path(abstain.__file__).parents[1]


@pytest.fixture
def installed(monkeypatch):
    """Make believe where abstain was installed from; None is nowhere."""

    class Installed:
        def __init__(self, origin):
            self.origin = origin

        def read_text(self, _):
            return None if self.origin == "index" else json.dumps(self.origin)

    def set_origin(origin):
        def distribution(_):
            if origin is None:
                raise PackageNotFoundError
            return Installed(origin)

        monkeypatch.setattr("importlib.metadata.distribution", distribution)

    return set_origin


@pytest.fixture(autouse=True)
def _environment_is_active(monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


def test_the_pip_line_names_the_interpreter_of_an_environment_that_is_not_active(installed, monkeypatch, tmp_path):
    installed("index")
    (tmp_path / "pip").write_text("#!/bin/sh")
    (tmp_path / "pip").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pip_line("torch") == f"{sys.executable} -m pip install 'abstain[torch]'"


def test_the_extras_with_torch_are_those_of_the_project():
    extras_of = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {"all"} | {name for name, needs in extras_of.items() if "torch>=2.4" in needs} == extras.WITH_TORCH


def test_the_pip_line_of_an_extra_without_torch_has_no_constraints(installed):
    installed(None)
    assert pip_line("sklearn") == f"pip install '{SOURCE.parent}[sklearn]'"


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        ("index", "pip install 'abstain[torch]'"),
        ({"url": "file:///w/abstain-0.1.0-py3-none-any.whl", "archive_info": {}}, "pip install 'abstain[torch]'"),
        ({"url": "file:///w/abstain", "dir_info": {}}, "pip install 'abstain[torch]'"),
        ({"url": "file:///my%20code/a", "dir_info": {"editable": True}}, "pip install -e '/my code/a[torch]'"),
        (None, f"pip install -c {SOURCE.parent}/constraints.txt '{SOURCE.parent}[torch]'"),
    ],
)
def test_the_pip_line_is_that_of_the_installation(installed, origin, line):
    installed(origin)
    assert pip_line("torch") == line
    with pytest.raises(MissingExtraError) as info:
        require("no_such_module.part", extra="torch", feature="The page")
    assert str(info.value) == f"The page needs no_such_module. Install it with: {line}"


def test_all_that_is_missing_is_said_at_once(installed):
    installed("index")
    require_all({"numpy": "torch"}, feature="Nothing")
    with pytest.raises(MissingExtraError) as info:
        require_all({"no_such_a": "sklearn", "numpy": "torch", "no_such_b": "report"}, feature="The demo")
    assert str(info.value) == (
        "The demo needs no_such_a and no_such_b. Install with: pip install 'abstain[sklearn,report]'"
    )


def test_the_demo_looks_for_all_it_needs_before_it_trains(tmp_path):
    """In a fresh environment with typer and rich alone: links to them and all they need, and nothing of the extras."""
    position = tmp_path / "fresh"
    venv.create(position, with_pip=False, symlinks=True)
    packages = next(position.glob("lib/python*/site-packages"))
    for name in _with_needs("typer", "rich"):
        files = distribution(name).files or ()
        for top in {file.parts[0] for file in files if not file.parts[0].startswith("..")}:
            os.symlink(distribution(name).locate_file(top), packages / top)
    command = [position / "bin" / "python", "-c", "from abstain.cli import main; main()", "demo"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode == 1
    line = f"{position}/bin/python -m pip install '{SOURCE.parent}[report]'"
    assert done.stderr == f"abstain: The demo needs matplotlib. Install with: {line}\n"
    assert not (tmp_path / "abstain-demo").exists()


def _with_needs(*names):
    """The distributions and, without extras, all they depend on that is here."""
    result, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        try:
            needed = [] if name in result else [line for line in requires(name) or () if "extra ==" not in line]
        except PackageNotFoundError:  # for another system
            continue
        result.add(name)
        waiting += [re.match(r"[\w.-]+", line)[0] for line in needed]
    return result
