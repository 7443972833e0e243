"""The suite itself cannot hang: a worker that dies, or a test that waits for ever, ends the run by name."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SLOW = "import time\nimport pytest\n@pytest.mark.parametrize('i', range(100))\ndef test_slow(i): time.sleep(1)\n"


def run(folder, **files):
    """This project's settings on other tests, by two workers."""
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text)
    shutil.copy(ROOT / "conftest.py", folder)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        ROOT / "pyproject.toml",
        "--rootdir",
        folder,
        "-p",
        "no:cacheprovider",
    ]
    command += ["-n", "2", "--dist", "loadfile", folder]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


def test_a_worker_that_dies_ends_the_run_with_the_name_of_its_test(tmp_path):
    done = run(tmp_path, dies=f"import os\ndef test_dies(): os.abort()\n{SLOW}", other=SLOW)
    assert done.returncode == 1
    assert "a worker died in test_dies.py::test_dies" in done.stdout


def test_a_test_that_waits_fails_by_name(tmp_path):
    text = "import threading, pytest\n@pytest.mark.timeout(1)\ndef test_waits(): threading.Event().wait()\n"
    done = run(tmp_path, waits=text)
    assert done.returncode == 1
    assert "test_waits.py::test_waits - Failed: Timeout" in done.stdout
