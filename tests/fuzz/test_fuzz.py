"""A short run of `scripts/fuzz`, and proof that it can find something."""

import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[2] / "fuzz" / "run.py"
WITHOUT = """
import runpy, sys, types
import {module} as broken
assert hasattr(broken, "{name}")
broken.{name} = {other}
sys.path.insert(0, {folder!r})
sys.argv = ["run.py", "--tries", "120", {kind!r}]
runpy.run_path({run!r}, run_name="__main__")
"""
SAME_DIGEST = "types.SimpleNamespace(sha256=lambda _: types.SimpleNamespace(hexdigest=lambda: 'e' * 64))"


def fuzzed(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_no_hostile_input_gives_a_wrong_result_or_a_traceback():
    done = fuzzed(RUN, "--tries", "100")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert len(rows) == 17
    for kind, tried, refused, taken, wrong, tracebacks, _ in rows:
        assert int(tried) == int(refused) + int(taken) >= 10, kind
        assert (wrong, tracebacks) == ("0", "0"), kind
    assert sum(int(row[3]) for row in rows) > 100  # not met by refusing everything


@pytest.mark.parametrize(
    ("kind", "module", "name", "other", "finding"),
    [
        ("npy", "abstain.outputs.load", "ALWAYS_VERIFIED", "-1", "an altered array in spite of its checksum"),
        pytest.param(
            "csv", "abstain.outputs.columns", "_truth", "lambda _: 1.0", "taken for right", marks=pytest.mark.thorough
        ),
        pytest.param(
            "watch",
            "abstain.monitor.watch",
            "undo",
            "lambda *_: None",
            "left something behind",
            marks=pytest.mark.thorough,
        ),
        (
            "json",
            "abstain.outputs.header",
            "header_digest",
            "lambda header: header.get('sha256')",
            "spite of its digest",
        ),
        pytest.param(
            "shard", "abstain._io.sealed", "hashlib", SAME_DIGEST, "other outputs", marks=pytest.mark.thorough
        ),
        pytest.param(
            "value", "abstain._arguments", "EXACT", "2**64", "numbers that became", marks=pytest.mark.thorough
        ),
        pytest.param("path", "abstain._io.files", "S_IMODE", "lambda _: 0o644", "the mode", marks=pytest.mark.thorough),
        ("monitor", "abstain.monitor.saved_watch", "_digest", "lambda _: 'e' * 64", "spite of its digest"),
        pytest.param(
            "selector",
            "abstain.selector.file",
            "check_decides",
            "lambda *_: None",
            "traceback at",
            marks=pytest.mark.thorough,
        ),
        ("selector", "abstain.selector.file", "_check_all_is_read", "lambda *_: None", "something else is saved again"),
    ],
)
def test_a_check_that_is_taken_away_is_found_missing(kind, module, name, other, finding):
    code = WITHOUT.format(module=module, name=name, other=other, folder=str(RUN.parent), kind=kind, run=str(RUN))
    done = fuzzed("-c", code)
    assert done.returncode == 1, done.stderr
    assert finding in done.stdout
