"""The words of the field: names and sentences that a stranger would stumble over stay out of the tree."""

import ast
import re
from collections import defaultdict
from doctest import DocTestParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "src" / "abstain"
FILES = sorted([*LIBRARY.rglob("*.py"), *(ROOT / "reproduction" / "abstain_reproduction").rglob("*.py")])
FOLDERS = ("tests", "reproduction/tests", "benchmarks", "fuzz")
TESTS = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
PARSER = DocTestParser()
NAMES = {"found", "one", "told", "place", "places", "letters"}
WORDS = re.compile(
    r"\b(promises?|promised|anew|whole numbers?|in reach|within reach|got others|be it|as good as can be told|lest|"
    r"what becomes of|rank alike)\b"
)
FILE_NAMES = {
    "kept",
    "seen",
    "taken",
    "told",
    "found",
    "telling",
    "further",
    "beside",
    "quick",
    "once",
    "compared",
    "gained",
}


def _bound_names(source):
    """Names that the code binds, and that the examples in its docstrings do."""
    tree = ast.parse(source)
    docstrings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and ">>>" in str(node.value)]
    examples = [example.source for node in docstrings for example in PARSER.get_examples(str(node.value))]
    for node in (node for each in (tree, *map(ast.parse, examples)) for node in ast.walk(each)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_names_and_sentences_are_the_fields(file):
    source = file.read_text(encoding="utf-8")
    assert sorted(NAMES & set(_bound_names(source))) == []
    assert sorted(set(WORDS.findall(source.lower()))) == []


def test_files_are_named_by_what_they_hold():
    assert sorted(file.relative_to(ROOT).as_posix() for file in FILES if file.stem.strip("_") in FILE_NAMES) == []


def test_tests_name_what_they_hold():
    names = {file.relative_to(ROOT).as_posix(): NAMES & set(_bound_names(file.read_text("utf-8"))) for file in TESTS}
    assert {file: sorted(bad) for file, bad in names.items() if bad} == {}


def test_no_two_classes_have_one_name():
    files_by_name = defaultdict(list)
    for file in FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files_by_name[node.name].append(file.relative_to(ROOT).as_posix())
    assert {name: files for name, files in files_by_name.items() if len(files) > 1} == {}
