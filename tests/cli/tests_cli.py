"""Run the command in a process of its own."""

import os
import subprocess
import sys


def run(*arguments, width=120):
    environment = os.environ | {"COLUMNS": str(width), "NO_COLOR": "1"}
    command = [sys.executable, "-c", "from abstain.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
