import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def run():
    """Run the command in a process of its own."""

    def started(*arguments, width=120):
        environment = os.environ | {"COLUMNS": str(width), "NO_COLOR": "1"}
        command = [sys.executable, "-c", "from abstain.cli import main; main()", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    return started
