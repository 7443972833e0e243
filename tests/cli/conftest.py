import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # as in an active environment
SERVER = Path(__file__).with_name("fork_server.py")


@pytest.fixture(scope="session")
def server():
    """A process that has imported the command and forks for every call, since importing takes most of a short one."""
    with subprocess.Popen(
        [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process


@pytest.fixture(scope="session")
def run(server, tmp_path_factory):
    """Run the command in a process of its own."""

    def started(*arguments, width=120, stdin=os.devnull):
        files = tmp_path_factory.mktemp("streams")
        call = {
            "arguments": [str(argument) for argument in arguments],
            "environment": os.environ | {"COLUMNS": str(width), "NO_COLOR": "1", "PATH": PATH},
            "folder": os.getcwd(),
            "input": str(stdin),
            "streams": [str(files / "stdout"), str(files / "stderr")],
        }
        print(json.dumps(call), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        output, errors = (Path(stream).read_text(encoding="utf-8") for stream in call["streams"])
        return subprocess.CompletedProcess(call["arguments"], code, output, errors)

    return started
