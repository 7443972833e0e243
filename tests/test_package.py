import importlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import abstain

DOCS = Path(__file__).parent.parent / "docs"


def test_importing_abstain_imports_nothing_heavy():
    code = (
        "import sys, abstain; print(sorted({'numpy', 'scipy', 'numba', 'rich', 'typer', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_command_s_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['abstain', '--help']\n"
        "from abstain.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(sorted({'numpy', 'numba', 'scipy'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_what_the_readme_writes_works_after_import_abstain():
    code = (
        "import abstain; print(abstain.onnx.attach, abstain.torch.SelectiveModel, abstain.sklearn.SelectiveClassifier)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).count("<") == 3
    code = "import abstain; print(abstain.collect.collect, abstain.monitor.RiskMonitor, abstain.shifts.corrupt)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).count("<") == 3


def test_help_and_hasattr_work_without_the_extras():
    code = (
        "import sys; sys.modules['mlflow'] = None; import abstain; print(hasattr(abstain, 'mlflow'))\n"
        "try: abstain.mlflow\n"
        "except AttributeError as error: print(type(error).__name__, error)"
    )
    shown = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert shown.startswith("False\nMissingModuleError abstain.mlflow needs mlflow")


def test_dir_shows_the_public_names_and_nothing_else():
    assert set(dir(abstain)) == {*abstain.__all__, "__version__"}


def test_every_public_name_exists():
    import abstain.selector

    for module in (abstain, abstain.scores, abstain.metrics, abstain.thresholds, abstain.selector, abstain.monitor):
        for name in module.__all__:
            assert hasattr(module, name)


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("tables")


@pytest.mark.parametrize("page", ["scores.md", "thresholds.md", "commands.md"])
def test_the_tables_of_the_documentation_are_those_of_the_registries(tables, page):
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == tables.with_table(text, tables.TABLES[page]()), "Run python docs/tables.py."


def test_the_documentation_lists_every_function_for_a_threshold():
    page = (DOCS / "thresholds.md").read_text()
    values = {
        "Achievable",
        "ChowDecision",
        "EstimatedWeights",
        "LabelShiftBound",
        "NoSafeThresholdError",
        "Guarantee",
        "Quantity",
        "Threshold",
    }
    parts = {"binomial_p", "hoeffding_bentkus_p", "lower_bound", "upper_bound", "mean_upper_bound"}
    rules = set(abstain.thresholds.__all__) - values - parts - {"empirical_without_guarantee"}
    for name in rules:
        assert f"`{name}`" in page, name


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = abstain.nothing


def test_version_is_the_one_installed():
    from importlib.metadata import version

    assert version("abstain") == abstain.__version__


def test_the_command_s_evaluation_imports_no_special_functions_of_scipy(tmp_path):
    rng = np.random.default_rng(0)
    labels, weight = rng.integers(3, size=200), rng.normal(size=(3, 4))
    features = weight[labels] + rng.normal(size=(200, 4))
    abstain.Outputs(logits=features @ weight.T, labels=labels, features=features, weight=weight).save(tmp_path / "run")
    code = (
        "import sys; from abstain.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'scipy.special', 'array_api_compat.numpy'} & set(sys.modules)))"
    )
    words = [sys.executable, "-c", code, "evaluate", str(tmp_path / "run")]
    assert subprocess.check_output(words, text=True).splitlines()[-1] == "[]"


def test_links_between_pages_of_the_documentation_lead_somewhere():
    for page in [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        for link, position in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text()):
            target = page.parent / link if link else page
            assert link.startswith("http") or target.exists(), f"{page.name}: {link}"
            assert not position or link.startswith("http") or position in anchors(target), (
                f"{page.name}: {link}#{position}"
            )


def test_python_files_named_in_texts_exist():
    root = DOCS.parent
    folders = ("src", "reproduction", "docs", "tests", "benchmarks", "fuzz")
    sources = [file for folder in folders for file in (root / folder).rglob("*.py")]
    names = {f"/{file.relative_to(root).as_posix()}" for file in sources} | {"/hatch_build.py", "/conftest.py"}
    texts = [root / "CONTRIBUTING.md", root / "README.md", *DOCS.rglob("*.md"), *sources]
    texts += (root / "reproduction").rglob("*.md")
    missing = []
    for file in texts:
        named = re.findall(r"`([a-z_0-9/]+\.py)`", file.read_text(encoding="utf-8"))
        unknown = [name for name in named if not any(each.endswith(f"/{name}") for each in names)]
        missing += [f"{file.relative_to(root)}: {name}" for name in unknown]
    assert missing == []


def anchors(page):
    """As GitHub makes them of headings, and the names of folded parts."""
    text = page.read_text()
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    names = re.findall(r"^:name: (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles} | set(names)
