"""Several processes on one folder: one works, the others are refused, and nothing wrong is ever published."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from abstain import Outputs
from abstain.collect import CallableModel, Data, collect

N, WIDTH = 4000, 64
WORK = """
import sys, time
import numpy as np
from abstain.collect import CallableModel, Data, collect

n, width, pause = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])

def slow(inputs):
    time.sleep(pause)
    x = np.stack(inputs)
    return x[:, :5] + 1, x

data = Data(np.arange(n * width, dtype=np.float32).reshape(n, width))
sys.stdin.readline()
collect(CallableModel(slow, name="slow"), data, sys.argv[1], batch_size=50, shard_size=100)
"""


def start(folder, pause=0.0):
    """A process that collects once it is told to."""
    command = [sys.executable, "-c", WORK, str(folder), str(N), str(WIDTH), str(pause)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def is_right(folder):
    outputs = Outputs.load(folder)
    expected = np.arange(N * WIDTH, dtype=np.float32).reshape(N, WIDTH)
    return np.array_equal(outputs.features, expected) and np.array_equal(outputs.logits, expected[:, :5] + 1)


def test_of_processes_at_once_one_works_and_the_others_are_refused(tmp_path):
    for trial in range(3):
        folder = tmp_path / str(trial)
        processes = [start(folder, pause=0.02) for _ in range(3)]
        for process in processes:
            go(process)
        said = [process.communicate()[1] for process in processes]
        codes = [process.returncode for process in processes]
        assert codes.count(0) >= 1
        assert set(codes) <= {0, 1}, said  # none dies by a signal
        for code, words in zip(codes, said, strict=True):
            assert code == 0 or "must not be in use" in words
        assert is_right(folder)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "2"]


def test_the_process_at_work_is_named_and_its_death_frees_the_folder(tmp_path):
    first = start(tmp_path / "run", pause=0.1)
    go(first)
    while not list(tmp_path.glob(".run.collect/shard-*")):
        time.sleep(0.01)
    data = Data(np.arange(N * WIDTH, dtype=np.float32).reshape(N, WIDTH))
    model = CallableModel(lambda inputs: (np.stack(inputs)[:, :5] + 1, np.stack(inputs)), name="slow")
    with pytest.raises(BlockingIOError, match=rf"another process at work on it \({first.pid} on .*\). Wait for it"):
        collect(model, data, tmp_path / "run", batch_size=50, shard_size=100)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    collect(model, data, tmp_path / "run", batch_size=50, shard_size=100)
    assert is_right(tmp_path / "run")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_child_that_lives_on_does_not_keep_the_lock(tmp_path):
    from abstain._io.locks import Lock

    with Lock(tmp_path / "lock") as lock:
        assert lock.take()
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        time.sleep(0.2)
    try:
        with Lock(tmp_path / "lock") as again:
            assert again.take()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_two_threads_do_not_share_a_folder(tmp_path):
    from abstain._io.locks import Lock

    with Lock(tmp_path / "lock") as first, Lock(tmp_path / "lock") as other:
        assert first.take()
        assert not other.take()
        assert first.take(exclusive=False)
        assert other.take(exclusive=False)
        assert not first.take()
