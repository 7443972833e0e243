"""Kernels on disk: never old ones, and nothing about them can fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import abstain._kernels
from abstain._kernels import cache

KERNELS = Path(abstain._kernels.__path__[0])
INNER = """
from abstain._kernels.compilation import compiled

@compiled(inline="always")
def inner(x):
    return x + {}
"""
OUTER = """
from abstain._kernels.compilation import compiled
from abstain._kernels.inner import inner

@compiled()
def outer(x):
    return 10 * inner(x)
"""
RUN = """
import resource, sys
if "full" in sys.argv:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from abstain._kernels.outer import outer
found = outer(1)
sys.stdout.write(f"{found} {sum(outer.stats.cache_hits.values())}")
"""


@pytest.fixture
def run(tmp_path):
    """A function that runs a kernel in a new process: its result, and how often it was on disk."""
    package = tmp_path / "abstain" / "_kernels"
    package.mkdir(parents=True)
    for name in ("compilation.py", "cache.py"):
        shutil.copy(KERNELS / name, package)
    shutil.copy(KERNELS.parent / "_errors.py", package.parent)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "inner.py").write_text(INNER.format(1))
    (package / "outer.py").write_text(OUTER)

    def run_once(*words, **environment):
        known = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        known |= {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")} | environment
        known = {name: value for name, value in known.items() if value}
        words = [sys.executable, "-B", "-c", RUN, *words]
        done = subprocess.run(words, capture_output=True, text=True, check=False, env=known)
        if done.returncode:
            return done.stderr.splitlines()[-1]
        assert done.stderr == ""
        return tuple(map(int, done.stdout.split()))

    return run_once


def kernels(folder):
    return list((folder / "cache").rglob("outer*.kernel"))


def test_a_change_to_what_a_kernel_inlines_is_seen(run, tmp_path):
    assert run() == (20, 0)
    assert run() == (20, 1)
    (tmp_path / "abstain" / "_kernels" / "inner.py").write_text(INNER.format(2))
    assert run() == (30, 0)


NO_KERNEL = b"\x80\x04K\x01."  # a pickled 1
DAMAGES = {
    "empty": b"",
    "zeros": bytes(9999),
    "other": b"hello\n" * 99,
    "sealed": cache.sha256(NO_KERNEL).digest() + NO_KERNEL,
    "cut": lambda contents: contents[: len(contents) // 2],
    "flipped": lambda contents: contents[:-100] + bytes([contents[-100] ^ 1]) + contents[-99:],
}


QUICK = ("sealed", "cut")


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, id=name, marks=() if name in QUICK else pytest.mark.thorough)
        for name, damage in DAMAGES.items()
    ],
)
def test_a_damaged_file_heals_itself(run, tmp_path, damage):
    run()
    (file,) = kernels(tmp_path)
    file.write_bytes(damage(file.read_bytes()) if callable(damage) else damage)
    assert run() == (20, 0)
    assert run() == (20, 1)


def test_where_nothing_can_be_written_kernels_are_compiled_in_memory(run, tmp_path):
    (tmp_path / "abstain" / "_kernels" / "__pycache__").touch()  # no folder: nothing can be kept beside the package
    for nowhere in ("/dev/null", ""):
        assert run(NUMBA_CACHE_DIR=nowhere, HOME="/dev/null", XDG_CACHE_HOME="") == (20, 0)


def test_a_full_disk_does_not_spoil_a_result(run, tmp_path):
    assert run("full") == (20, 0)
    assert not [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]


def test_kernels_say_that_they_do_not_run_uncompiled(run):
    assert run(NUMBA_DISABLE_JIT="1") == (
        "abstain._errors.InvalidInputError: `NUMBA_DISABLE_JIT` must be 0 for abstain, whose kernels run "
        "compiled only, got 1. Unset it."
    )


def test_the_folder_is_the_users_alone(run, tmp_path):
    home = tmp_path / "cache" / f"abstain-{os.getuid()}"
    home.mkdir(parents=True)
    home.chmod(0o777)
    run()
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_link_to_somewhere_else_is_not_followed(run, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / f"abstain-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    assert run() == (20, 0)
    assert not list((tmp_path / "elsewhere").iterdir())


def test_folders_of_earlier_versions_are_removed(run, tmp_path):
    home = tmp_path / "cache" / f"abstain-{os.getuid()}"
    for k in range(20):
        (home / f"{k}").mkdir(parents=True)
        os.utime(home / f"{k}", (k, k))
    run()
    left = {folder.name for folder in home.iterdir()}
    assert left > {str(k) for k in range(20 - cache.MOST_FOLDERS, 20)}
    assert len(left) == cache.MOST_FOLDERS + 1


def test_kernels_depend_on_this_package_alone():
    imported = [line for file in KERNELS.glob("*.py") for line in file.read_text().splitlines() if "import " in line]
    ours = [line for line in imported if line.strip().startswith(("from abstain", "import abstain"))]
    elsewhere = {line.strip() for line in ours if "abstain._kernels" not in line and "abstain._arrays" not in line}
    assert elsewhere <= {
        "from abstain._cached_property import cached_property",
        "from abstain._errors import InvalidInputError",
    }  # which no kernel inlines
