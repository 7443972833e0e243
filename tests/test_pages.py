import re
import subprocess
import sys
from pathlib import Path

import pytest

import abstain
from abstain.pages import DRAWN_BY, page_of

SOURCE = Path(abstain.__file__).parent


@pytest.mark.parametrize("name", DRAWN_BY)
def test_a_result_with_a_page_is_public_and_its_page_can_be_written(name):
    assert hasattr(getattr(abstain, name), "to_html")
    assert callable(page_of(name).write_page)


def test_no_module_imports_another_of_the_package_by_a_string():
    hidden = re.compile(r"import_module\(\s*f?[\"']abstain\.(?!kernels\.)")  # `python -m abstain.kernels` walks its own
    found = [file for file in SOURCE.rglob("*.py") if hidden.search(file.read_text())]
    assert found == [SOURCE / "__init__.py"]


def test_results_do_not_import_their_pages():
    code = "import sys, abstain.evaluation, abstain.selector; print('abstain.report' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
