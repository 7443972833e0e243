"""The commands of the site's pages, typed as they stand there, print what stands there ("..." stands for any text)."""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"```(console|python)\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ (\w+) (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
FILES = DOCS / "howto" / "index.md"  # its example writes the files that the other pages of the folder use
PAGES = sorted(page for page in DOCS.rglob("*.md") if "```console\n" in page.read_text(encoding="utf-8"))


def test_there_are_pages_with_commands():
    assert len(PAGES) > 3


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_commands_of_a_page_print_what_it_shows(page, run):
    names = {}
    if page.parent == FILES.parent:
        _read(FILES, names, run)
    _read(page, names, run)


def _read(page, names, run):
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            _execute(block, names)
        else:
            for program, command, shown in COMMAND.findall(block):
                _type(program, command, shown, run)


def _execute(block, names):
    for example in doctest.DocTestParser().get_examples(block):
        exec(example.source, names)


def _type(program, command, shown, run):
    own = [sys.executable, *shlex.split(command, comments=True)]
    done = (
        run(*shlex.split(command, comments=True))
        if program == "abstain"
        else subprocess.run(own, capture_output=True, text=True)
    )
    printed = done.stdout if done.returncode in (0, 3) else done.stderr
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, printed, flags), f"{command}\nprinted:\n{printed}\nnot:\n{shown}"
    assert done.returncode == (1 if shown.startswith("abstain: ") else 3 if "ALARM" in shown else 0)
