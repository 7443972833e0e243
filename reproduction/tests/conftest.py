"""Packages that `scripts/reproduce` fetches."""

from pathlib import Path

import pytest


@pytest.fixture
def fetched(monkeypatch):
    """Goes where `scripts/reproduce` puts packages, and skips the test where one of them is not there."""

    def check(*packages):
        monkeypatch.chdir(Path(__file__).parents[2])
        if missing := [package.name for package in packages if not package.location.is_dir()]:
            pytest.skip(f"{' and '.join(missing)} not fetched; scripts/reproduce does")

    return check
