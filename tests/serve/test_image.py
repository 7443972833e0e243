"""The steps of the Dockerfile, in a folder instead of a container."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEPS = ROOT / "deploy" / "image-steps"


@pytest.mark.thorough
def test_the_wheel_installs_starts_and_is_healthy(classifier, tmp_path):
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", tmp_path / "dist", ROOT]
    subprocess.run(build, check=True)
    subprocess.run([STEPS, "install", tmp_path / "image", tmp_path / "dist"], check=True)
    command = [tmp_path / "image" / "bin" / "abstain", "serve", classifier.file, "--model", classifier.model]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        url = process.stdout.readline().split(" at ")[1].rsplit("/v2", 1)[0]
        healthy = [STEPS, "health", tmp_path / "image", url]
        until = time.monotonic() + 60
        while subprocess.run(healthy, stderr=subprocess.DEVNULL).returncode and time.monotonic() < until:
            time.sleep(0.2)
        assert subprocess.run(healthy).returncode == 0
        process.terminate()
        assert process.wait(30) == 0
