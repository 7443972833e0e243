"""The runs of `scripts/test --machines` cover every condition."""

import importlib.util
import sys
from itertools import product
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "machines.py"


@pytest.fixture(scope="module")
def machines():
    spec = importlib.util.spec_from_file_location("machines", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["machines"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["machines"]


def test_each_condition_occurs_and_runs_are_few(machines):
    names = {condition.name for run in machines.RUNS for condition in run.conditions}
    for kind, threads in product(("Haswell", "Sandybridge", "Prescott"), (1, 2)):
        assert machines.blas(kind, threads).name in names
    for python, versions in product(("3.11", "3.12", "3.13"), ("lowest", "newest")):
        assert f"Python {python}, {versions} versions" in names
    others = ("NO_AVX512", "NO_AVX2", "GENERIC", "AVX2_ALONE", "MEMORY", "BOUNDS")
    assert {getattr(machines, name).name for name in others} <= names
    assert len(machines.RUNS) <= 10


def test_no_run_sets_a_variable_twice_and_the_interpreter_comes_first(machines):
    for run in machines.RUNS:
        variables = [name for condition in run.conditions for name in condition.variables]
        assert len(variables) == len(set(variables)), run.name
        assert not any(condition.python for condition in run.conditions[1:])


def test_all_tests_that_are_run_exist(machines):
    for run in machines.RUNS:
        assert all((SCRIPT.parents[1] / test).exists() for test in run.tests)


def test_a_condition_that_cannot_be_imitated_is_left_out_and_named(machines, tmp_path):
    impossible = machines.Condition("magic", {"MAGIC": "1"}, "raise SystemExit('no magic here')")
    plain = machines.Condition("plain", {"PLAIN": "{new}"})
    run = machines.Run((impossible, plain))
    assert machines.prepared(run, str(tmp_path)) == (sys.executable, {"PLAIN": str(tmp_path)}, ["magic: no magic here"])
    with pytest.raises(machines.CannotRunError, match="magic: no magic here"):
        machines.prepared(machines.Run((impossible,)), str(tmp_path))


def test_a_numpy_that_crashes_under_a_kernel_is_named(machines, tmp_path):
    crash = machines.Condition("kernel", {}, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(machines.CannotRunError, match=r"kernel: this NumPy crashes under it \(SIGSEGV\)"):
        machines.prepared(machines.Run((crash,)), str(tmp_path))
    assert "numbers.T @ numbers.copy()" in machines.blas("Haswell", 1).probe


def test_the_oldest_kernels_are_known_by_the_name_openblas_reports(machines):
    assert "'Katmai' not in kinds" in machines.blas("Prescott", 1).probe
    assert "'Haswell' not in kinds" in machines.blas("Haswell", 1).probe


def test_pages_that_need_pytorch_are_left_out_by_name(machines):
    assert machines.pages_with_torch() == ["docs/shipping.md", "docs/sketch.md", "docs/start/torch.md"]


def test_the_lowest_versions_are_pinned_and_extras_of_our_own_are_not(machines):
    floors = machines._floors()
    assert "typer==0.19" in floors
    assert not any(line.startswith("abstain") or ">" in line for line in floors)
