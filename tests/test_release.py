"""`scripts/release` tries every extra, and the files agree on the version."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "release.py"


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_extra_is_tried(release):
    assert set(release.TRIALS) == {"", *release.PROJECT["optional-dependencies"]} - {"all"}


def test_changelog_citation_and_package_state_the_version(release):
    assert release.check_versions() == release.PROJECT["version"]


def test_a_file_with_another_version_is_named(release, monkeypatch):
    monkeypatch.setitem(release.PROJECT, "version", "9.9.9")
    with pytest.raises(release.NotReleasableError, match=r"must state version 9\.9\.9, got 0"):
        release.check_versions()


def test_every_page_of_start_names_an_extra_that_is_tried(release):
    assert len(release.PAGES) > 5
    assert {release.extra_of(page) for page in release.PAGES} <= set(release.TRIALS)


def test_a_page_without_a_line_that_installs_is_named(release, tmp_path):
    (tmp_path / "new.md").write_text("# New\n")
    with pytest.raises(release.NotReleasableError, match=r"new\.md must have a line"):
        release.extra_of(tmp_path / "new.md")


def test_the_citation_has_the_date_of_the_changelog_or_none(release):
    release.check_dates("## [0.1.0] - unreleased", "version: 0.1.0", "0.1.0")
    release.check_dates("## [0.1.0] - 2026-12-01", "date-released: 2026-12-01", "0.1.0")
    with pytest.raises(release.NotReleasableError, match="must have the date of CHANGELOG"):
        release.check_dates("## [0.1.0] - unreleased", "date-released: 2026-11-18", "0.1.0")
