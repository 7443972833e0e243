"""What every test and every example may use."""

import os
import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "abstain", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("abstain")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

LONGEST = (
    "tests/test_site.py",
    "tests/adapters/test_onnx.py",
    "tests/adapters/test_torch.py",
    "tests/adapters/test_sklearn.py",
    "tests/collect/test_models.py",
    "tests/cli/test_monitor.py",
    "tests/collect/test_run.py",
    "tests/fuzz/test_fuzz.py",
    "tests/selector/cascades/test_guarantee.py",
    "tests/cli/test_console_examples.py",
    "tests/collect/test_stale.py",
    "tests/cli/test_collect.py",
    "tests/test_suite.py",
    "reproduction/tests/benchmarks/test_four_tasks.py",
    "tests/report/figures/test_save.py",
)
"""Files that take longest: they begin first, so that all workers end together."""


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(crashitem):
    """End the run at once when a worker dies; without this, the other workers would run what they hold first."""
    pytest.exit(f"a worker died in {crashitem}", returncode=1)


def pytest_collection_modifyitems(items):
    """The longest files first."""
    items.sort(
        key=lambda item: next((k for k, file in enumerate(LONGEST) if item.nodeid.startswith(file)), len(LONGEST))
    )


@pytest.fixture(autouse=True)
def _names_in_examples(doctest_namespace, tmp_path, monkeypatch):
    doctest_namespace["np"] = np
    monkeypatch.chdir(tmp_path)  # examples and commands may write to the current folder


@pytest.fixture(scope="session")
def digits():
    """The outputs of the demo: real logits, features, head and shifts."""
    from abstain.datasets import digits

    return digits()


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium, started once; `scripts/test` installs it."""
    from playwright.sync_api import sync_playwright

    result = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    assert result, "Pages are tested in Chromium, and there is none. Install it: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=result, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium, tmp_path):
    """Open the HTML of a page from disk; any error, warning or request fails the test."""
    contexts, complaints = [], []

    def open_page(html, **options):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: complaints.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints
