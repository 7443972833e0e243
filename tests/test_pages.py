import re
import subprocess
import sys
from pathlib import Path

import pytest

import abstain
from abstain._errors import InvalidTypeError
from abstain.pages import WithPage
from abstain.report.pages import write_page

SOURCE = Path(abstain.__file__).parent
RESULTS = (abstain.Certificate, abstain.Evaluation, abstain.RunComparison)


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_with_a_page_has_a_writer_of_its_own(result):
    assert issubclass(result, WithPage)
    assert write_page.dispatch(result) is not write_page.dispatch(object)


def test_every_class_with_a_page_is_among_them():
    assert set(WithPage.__subclasses__()) == set(RESULTS)


def test_another_object_has_no_page(tmp_path):
    with pytest.raises(InvalidTypeError, match="must be an Evaluation, RunComparison or Certificate, got str"):
        write_page("no result", tmp_path / "a.html")


def test_no_module_imports_another_of_the_package_by_a_string():
    hidden = re.compile(
        r"import_module\(\s*f?[\"']abstain\.(?!_kernels\.)"
    )  # `python -m abstain._kernels` walks its own
    modules = [file for file in SOURCE.rglob("*.py") if hidden.search(file.read_text())]
    registries = [SOURCE / "__init__.py", SOURCE / "cli" / "app.py", SOURCE / "collect" / "specs.py"]
    assert sorted(modules) == sorted(registries)  # each names modules of its own folder alone


def test_results_do_not_import_their_pages():
    code = "import sys, abstain.evaluation, abstain.selector; print('abstain.report' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_to_html_is_there_however_a_result_was_imported():
    code = "from abstain.evaluation.evaluation import Evaluation; print(Evaluation.to_html.__module__)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "abstain"
