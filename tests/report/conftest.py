"""A browser for the pages."""

import shutil

import pytest


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium, started once; `scripts/test` installs it."""
    from playwright.sync_api import sync_playwright

    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    assert found, "Pages are tested in Chromium, and there is none. Install it: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
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
