import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("griffe")
DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def api():
    found = importlib.util.spec_from_file_location("api", DOCS / "api.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date(api):
    assert api.PAGE.read_text() == api.page(), (
        "docs/api.md must be what signatures and docstrings say: run scripts/docs."
    )


def test_the_reference_has_every_public_name_with_words(api):
    page = api.PAGE.read_text()
    for module in (name for names in api.QUESTIONS.values() for name in names):
        exports = DOCS.parent / "src" / "abstain" / module.replace(".", "/") / "__init__.py"
        if exports.exists():
            names = re.search(r"__all__ = \[(.*?)\]", exports.read_text(), re.DOTALL)[1]
            for name in re.findall(r'"(\w+)"', names):
                assert f"\n#### {module}.{name}\n" in page
    assert not re.findall(r"^\| \[`.*\|  \|$", page, re.MULTILINE)


def test_links_of_the_reference_lead_to_its_headings(api):
    page = api.PAGE.read_text()
    anchors = {api._anchor(title) for title in re.findall(r"^#+ (.*)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= anchors
