"""Processes that are started while threads of this one fit and score."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import multiprocessing, sys, threading, warnings
import numpy as np
from abstain import Outputs
from abstain.scores import SCORES

def knn():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1500, 128))
    outputs = Outputs(logits=features[:, :5], features=features)
    return float(SCORES["knn"].fit(outputs)(outputs).sum())

def check(expected):
    assert knn() == expected

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    expected, stop = knn(), threading.Event()

    def fit():
        while not stop.is_set():
            knn()

    threads = [threading.Thread(target=fit) for _ in range(4)]
    for thread in threads:
        thread.start()
    context = multiprocessing.get_context(sys.argv[1])
    children = [context.Process(target=check, args=(expected,)) for _ in range(int(sys.argv[2]))]
    for child in children:
        child.start()
    for child in children:
        child.join(100)
    stop.set()
    codes = [child.exitcode for child in children]
    for child in children:
        child.kill()
    for thread in threads:
        thread.join()
    assert codes == [0] * len(children), codes
"""


@pytest.mark.parametrize(("way", "children"), [("fork", 12), ("spawn", 2)])
def test_a_process_started_while_threads_fit_does_not_wait_for_them(way, children, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    words = [sys.executable, tmp_path / "script.py", way, str(children)]
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # OpenBLAS itself cannot be forked while its threads work
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=250, env=alone)
    assert done.returncode == 0, done.stderr


COMPILING = """
import multiprocessing, threading, time, warnings
from abstain._kernels.compilation import compiled

def new():
    @compiled()
    def kernel(x):
        return 2 * x
    return kernel(21)

warnings.simplefilter("ignore")
stop = threading.Event()

def compile_on():
    while not stop.is_set():
        new()

thread = threading.Thread(target=compile_on)
thread.start()
time.sleep(1)
children = [multiprocessing.get_context("fork").Process(target=new) for _ in range(6)]
for child in children:
    child.start()
for child in children:
    child.join(100)
stop.set()
codes = [child.exitcode for child in children]
for child in children:
    child.kill()
thread.join()
assert codes == [0] * len(children), codes
"""


def test_a_process_forked_while_a_thread_compiles_can_compile():
    done = subprocess.run([sys.executable, "-c", COMPILING], capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr
