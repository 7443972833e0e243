"""The notebooks of the site: each is run, and prints what is stored."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
SCRIPT = Path(__file__).parent.parent / "docs" / "notebooks.py"
SPEC = importlib.util.spec_from_file_location("docs_notebooks", SCRIPT)
notebooks = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(notebooks)
FILES = sorted(notebooks.FOLDER.glob("*.ipynb"))
AGAIN = "run `python docs/notebooks.py` to store what the notebooks print now."


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_notebook_runs_and_prints_what_is_stored(file, tmp_path):
    stored = notebooks.read(file)
    fresh = notebooks.executed(stored, tmp_path)
    assert notebooks.words(fresh) == notebooks.words(stored), AGAIN
    assert notebooks.numbers(fresh) == pytest.approx(notebooks.numbers(stored), rel=1e-3), AGAIN


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_stored_notebook_is_small_and_has_nothing_of_the_machine(file):
    stored = notebooks.read(file)
    assert notebooks.cleaned(stored) == stored, AGAIN
    assert all(output.get("name") != "stderr" for cell in stored.cells for output in cell.get("outputs", []))
    assert file.stat().st_size < 200_000
    assert "/home/" not in file.read_text("utf-8")


def test_there_are_notebooks():
    assert len(FILES) >= 4
