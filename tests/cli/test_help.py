"""Help, examples, completion, and terminals of all kinds."""

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
import pytest
import typer

from abstain.cli.app import COMMANDS, app
from abstain.cli.commands import add_command
from abstain.cli.terminal import ASCII
from abstain.scores import SCORES

GROUP = typer.main.get_command(app)
OWN = [name for name in COMMANDS if name != "reproduce"]  # which forwards to another program


@pytest.mark.parametrize("name", OWN)
def test_help_ends_with_an_example_that_parses(name):
    command = GROUP.commands[name]
    example = command.epilog.removeprefix("\b\nExample: ")
    program, given, *arguments = shlex.split(example)
    assert (program, given) == ("abstain", name)
    command.make_context(name, arguments)  # wrong usage is an error
    assert "Example" not in command.help
    text = command.get_help(typer.Context(command, info_name=name, terminal_width=60))
    assert text.splitlines()[-1].strip() == f"Example: {example}"


def test_every_command_has_a_summary_that_the_list_of_commands_shows_whole():
    listed = GROUP.get_help(typer.Context(GROUP, info_name="abstain", terminal_width=80))
    commands = listed.partition("Commands:")[2]
    assert all(f"\n  {name} " in commands for name in COMMANDS)
    assert "..." not in commands


def test_an_option_about_groups_has_one_name_and_each_name_one_meaning():
    names = {"--per", "--by", "--group", "--groups", "--group-column", "--domain", "--domains"}
    commands = {name: [c for c in OWN for p in GROUP.commands[c].params if name in p.opts] for name in names}
    with_column = ["certify", "estimate", "evaluate", "groups", "report"]
    of_each = ["calibrate", "monitor", "serve", "sketch"]  # a guarantee, a monitor or counts per group
    assert {name: sorted(users) for name, users in commands.items() if users} == {
        "--group-column": with_column,
        "--per": of_each,
        "--group": ["recertify"],  # names one
    }


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("calibrate run --group-column x", "--per"),
        ("report run --per x", "--group-column"),
        ("recertify s --per x", "--group"),
    ],
)
def test_an_option_about_groups_that_a_neighbour_has_points_to_its_own(words, own, run):
    done = run(*words.split())
    assert done.returncode == 2
    assert re.search(rf"No such option: \S+ .*{own}\b", done.stderr)


def test_options_that_belong_together_reach_a_command_as_one_value():
    @dataclass(frozen=True)
    class Pair:
        left: Annotated[int, typer.Option()] = 1
        right: Annotated[int | None, typer.Option()] = None

    seen = []

    def command(name: Annotated[str, typer.Argument()], pair: Pair) -> None:
        """Do.

        Example: abstain command a
        """
        seen.append((name, pair))

    own = typer.Typer()
    add_command(own, command)
    typer.main.get_command(own).main(["a", "--right", "3"], standalone_mode=False)
    assert seen == [("a", Pair(1, 3))]


def test_the_help_of_calibrate_fits_a_screen():
    command = GROUP.commands["calibrate"]
    context = typer.Context(command, info_name="abstain calibrate", terminal_width=80)
    assert len(command.get_help(context).splitlines()) <= 52


def complete(*words, shell="bash"):
    """What the shell is told for the last word."""
    line = {
        "COMP_WORDS": " ".join(["abstain", *words]),
        "COMP_CWORD": str(len(words)),
        "_ABSTAIN_COMPLETE": "complete_",
    }
    line["_ABSTAIN_COMPLETE"] += shell
    code = "import sys; sys.argv = ['abstain']; from abstain.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | line, check=False
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cal"], ["calibrate"]),
        (["evaluate", "run", "--score", "ts_"], [name for name in SCORES if name.startswith("ts_")]),
        (["calibrate", "run", "--score", "knn,ener"], ["knn,energy"]),
        (["calibrate", "run", "--score", "be"], ["best"]),
        (["calibrate", "run", "--method", "b"], ["betting", "bonferroni"]),
        (["collect", "sk"], ["sklearn:"]),
        (["collect", "m", "d", "--corrupt", "fog:"], [f"fog:{severity}" for severity in range(1, 6)]),
        (["evaluate", "run", "--nonfinite", "r"], ["reject"]),
        (["collect", "m", "d", "--on-error", "s"], ["skip"]),
    ],
)
def test_names_are_completed(words, expected):
    if "--corrupt" in words:
        pytest.importorskip("cv2")
    assert sorted(complete(*words)) == sorted(expected)


def test_the_shell_is_told_how_to_complete():
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    code = "import sys; sys.argv = ['abstain', '--show-completion', 'bash']; from abstain.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert "_ABSTAIN_COMPLETE=complete_bash" in done.stdout
    assert subprocess.run(["bash", "-n"], input=done.stdout, text=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def outputs(digits, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "outputs"
    digits.save(path)
    return path


@pytest.fixture
def in_ascii(run, monkeypatch):
    """Run the command on a terminal that knows ASCII alone."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("LC_ALL", "C")
    return partial(run, width=100)


SCORE = ("--score", "max_softmax", "--score", "delta_knn", "--score", "energy")


def test_an_ascii_terminal_gets_words_for_signs(outputs, in_ascii):
    for arguments in (["scores"], ["evaluate", outputs, *SCORE], ["sensitivity", outputs], ["plan", "--risk", "0.02"]):
        done = in_ascii(*arguments)
        assert done.returncode == 0, done.stderr
        assert done.stdout.isascii()
        assert "\\u" not in done.stdout
        tables = [len(line) for line in done.stdout.splitlines() if line.startswith(("|", "+"))]
        assert tables
        assert max(tables) <= 100
        starts = [line.index("|", 1) for line in done.stdout.splitlines() if line.startswith("|") and "-+-" not in line]
        assert len(set(starts)) <= 4  # columns are straight in every table
    assert "alpha=0.1" in in_ascii("evaluate", outputs, *SCORE).stdout
    assert "lambda -> inf" in in_ascii("sensitivity", outputs).stdout


@pytest.mark.parametrize("name", OWN)
def test_help_and_errors_can_be_read_in_ascii(name, in_ascii):
    done = in_ascii(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "\\u" not in done.stdout


def test_names_of_a_user_s_own_are_escaped_and_json_stays_exact(tmp_path, in_ascii):
    np.savez(tmp_path / "läuft.npz", logits=np.eye(3), labels=np.arange(3))
    refused = in_ascii("evaluate", tmp_path / "fehlt-ä")
    assert refused.returncode == 1
    assert "fehlt-\\xe4" in refused.stderr
    done = in_ascii("scores", "--json")
    symbols = {score["symbol"] for score in json.loads(done.stdout)["scores"]}
    assert done.stdout.isascii()
    assert symbols == {score.symbol for score in SCORES.values()}


def test_every_sign_has_words_of_ascii():
    assert all(word.isascii() for word in ASCII.values())


@pytest.mark.parametrize("width", [80, 120, 160, 320])
def test_intervals_stay_however_wide_the_terminal_is(run, outputs, width):
    shown = run("evaluate", outputs, *SCORE, "--all", "--intervals", width=width).stdout
    lines = [line for line in shown.splitlines() if line.strip().startswith("max_softmax ")]
    assert sum(line.count("–") for line in lines) == 12
    assert len(lines) == (1 if width == 320 else 4)
