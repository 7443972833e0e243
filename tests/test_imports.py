import re
import subprocess
import sys
from pathlib import Path

import abstain

SOURCE = Path(abstain.__file__).parent


def test_no_module_imports_another_of_the_package_by_a_string():
    hidden = re.compile(
        r"import_module\(\s*f?[\"']abstain\.(?!_kernels\.)"
    )  # `python -m abstain._kernels` walks its own
    modules = [file for file in SOURCE.rglob("*.py") if hidden.search(file.read_text())]
    registries = ["__init__.py", "cli/app.py", "collect/specs.py", "evaluation/page/write.py", "metrics/registry.py"]
    assert sorted(modules) == sorted(SOURCE / file for file in registries)  # each names modules of its own folder alone


def test_results_do_not_import_their_pages():
    code = "import sys, abstain.evaluation, abstain.selector; print('abstain.report' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
