"""How long a user waits before anything is computed: imports, help, and the first evaluation."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from finding import Finding

ROUNDS = 5


def start(quick: bool) -> Iterator[Finding]:
    """Fresh processes: `import abstain`, `abstain --help`, `abstain evaluate` with a warm and an empty kernel cache."""
    from abstain.datasets import digits

    rounds = 2 if quick else ROUNDS
    bare = _shortest([sys.executable, "-c", "pass"], rounds)
    seconds = _shortest([sys.executable, "-c", "import abstain"], rounds) - bare
    yield Finding("import abstain", "beyond starting Python", "seconds", seconds, 0.1)
    yield Finding("abstain --help", "whole process", "seconds", _shortest(_command("--help"), rounds), 0.2)
    with tempfile.TemporaryDirectory() as folder:
        run_folder = Path(folder) / "run"
        digits().save(run_folder)
        evaluate = _command("evaluate", str(run_folder))
        warm = _shortest(evaluate, rounds + 1)
        yield Finding("abstain evaluate, all scores of the demo", "warm kernel cache", "seconds", warm, 1.0)
        if not quick:
            filled = {"NUMBA_CACHE_DIR": f"{folder}/filled"}
            _seconds([sys.executable, "-m", "abstain._kernels"], filled)
            first = _seconds(evaluate, filled)
            yield Finding("abstain evaluate, all scores of the demo", "the first after set-up", "seconds", first, 3.0)
        cold = min(_seconds(evaluate, {"NUMBA_CACHE_DIR": f"{folder}/empty-{k}"}) for k in range(max(1, rounds // 2)))
        yield Finding("abstain evaluate, all scores of the demo", "empty kernel cache, no set-up", "seconds", cold, 3.0)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "abstain", *words]


def _shortest(command: list[str], rounds: int) -> float:
    return min(_seconds(command) for _ in range(rounds))


def _seconds(command: list[str], environment: dict[str, str] | None = None) -> float:
    begun = time.perf_counter()
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, capture_output=True, env=kept | (environment or {}))
    return time.perf_counter() - begun
