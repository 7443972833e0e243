import os
import signal
import subprocess
import sys

import numba
import numpy as np
import pytest

from abstain._kernels import background
from abstain._kernels.__main__ import _Endable
from abstain._kernels.background import compiling_in_background


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Every process started, really, with a cache of its own."""
    result = []

    class Popen(subprocess.Popen):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            result.append(self)

    monkeypatch.setattr(background.subprocess, "Popen", Popen)
    monkeypatch.setattr(background, "usable_cores", lambda: 2)
    monkeypatch.setattr(background, "_is_cache_empty", lambda: False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return result


def _compile_one():
    numba.njit(lambda values: values)(np.zeros(1, np.float32))


def test_a_process_is_started_once_and_gone_at_the_end(started):
    with compiling_in_background():
        _compile_one()
        _compile_one()
        assert [process.args[-2:] for process in started] == [["abstain._kernels", "late"]]
    assert started[0].returncode is not None


def test_it_is_gone_after_an_error_too(started):
    def interrupted():
        with compiling_in_background():
            _compile_one()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert started[0].returncode is not None


def test_nothing_is_started_where_nothing_is_compiled(started):
    with compiling_in_background():
        pass
    _compile_one()
    assert started == []


def test_nothing_is_started_on_one_core(started, monkeypatch):
    monkeypatch.setattr(background, "usable_cores", lambda: 1)
    with compiling_in_background():
        _compile_one()
    assert started == []


def test_where_no_process_can_be_started_the_work_goes_on(started, monkeypatch):
    monkeypatch.setattr(sys, "executable", os.devnull)
    with compiling_in_background():
        _compile_one()
    assert started == []


def test_late_kernels_are_compiled_for_one_kind_of_logits(tmp_path):
    words = [sys.executable, "-m", "abstain._kernels", "late"]
    kept_there = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(words, input=b"float32\n", check=True, capture_output=True, env=kept_there, timeout=100)
    kept = sorted(path.name.split("-")[0] for path in tmp_path.rglob("*.kernel"))
    assert kept == ["areas._influence", "features._subtract", "neighbours.measure_near"]
    assert done.stdout == done.stderr == b""


def test_the_process_can_be_ended_while_it_compiles_and_not_while_it_writes():
    before, endable, result = signal.pthread_sigmask(signal.SIG_BLOCK, []), _Endable(), []
    try:
        for step in (endable.on_start, endable.on_start, endable.on_end, endable.on_end):
            step(None)
            result.append(signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, []))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    assert result == [True, True, True, False]


@pytest.mark.thorough
def test_an_evaluation_from_an_empty_cache_prints_what_one_from_a_full_cache_does(tmp_path):
    rng = np.random.default_rng(0)
    labels, weight = rng.integers(3, size=200), rng.normal(size=(3, 4))
    features = weight[labels] + rng.normal(size=(200, 4))
    from abstain import Outputs

    Outputs(logits=features @ weight.T, labels=labels, features=features, weight=weight).save(tmp_path / "run")
    words = [sys.executable, "-m", "abstain", "evaluate", str(tmp_path / "run"), "--json"]
    kept = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    cold, warm = (subprocess.run(words, check=True, capture_output=True, text=True, env=kept) for _ in range(2))
    assert cold.stdout == warm.stdout
    assert cold.stderr == warm.stderr
    assert not list((tmp_path / "cache").rglob("*.partial"))
