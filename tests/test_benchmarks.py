"""Benchmarks can be started by name; what they measure is their own business."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
CALLED_AS = """
from inspect import signature
from run import GUARANTEES, SPEED
for entries, arguments in ((SPEED, (True,)), (GUARANTEES, ())):
    for name, entry in entries.items():
        try:
            signature(entry).bind(*arguments)
        except TypeError as error:
            print(name, error)
"""


def test_every_benchmark_can_be_called_as_it_is_called():
    command = [sys.executable, "-c", CALLED_AS]
    done = subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
