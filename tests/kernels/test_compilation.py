import os
import subprocess
import sys

import numpy as np
import pytest

from abstain import Outputs
from abstain._kernels.compilation import as_given

UNDECLARED = """
import sys
from abstain import Outputs, evaluate
from abstain._kernels.compilation import AHEAD
for folder in sys.argv[1:]:
    evaluate(Outputs.load(folder))
declared = {kernel: [way for other, way in AHEAD if other is kernel] for kernel, _ in AHEAD}
for kernel, ways in declared.items():
    for kinds in kernel.signatures:
        if kinds not in ways:
            print(kernel.__name__, kinds)
"""
COMPILED = """
import sys
from numba.core import event
with event.install_recorder("numba:compile") as seen:
    from abstain import Outputs, evaluate
    for folder in sys.argv[1:]:
        evaluate(Outputs.load(folder))
for _, one in seen.buffer:
    print(one.data["dispatcher"])
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Outputs with all that scores need, as many rows as NumPy ranks and more, in float32 and in float64."""
    rng, result = np.random.default_rng(0), []
    for n, kind in ((900, np.float32), (11_000, np.float64)):
        weight, labels = rng.normal(size=(6, 8)).astype(kind), rng.integers(-1, 6, size=n)
        features = (0.4 * weight[labels] + rng.normal(size=(n, 8))).astype(kind)
        shift = np.where(labels < 0, "label", np.where(np.arange(n) % 3, "none", "covariate"))
        result.append(tmp_path_factory.mktemp("outputs") / str(n))
        outputs = Outputs(logits=features @ weight.T, labels=labels, features=features, weight=weight, shift=shift)
        outputs.save(result[-1])
    return [str(folder) for folder in result]


def _run(*words, **environment):
    process = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return process.stdout


def test_evaluate_calls_kernels_in_declared_ways_alone(folders):
    assert _run("-c", UNDECLARED, *folders) == ""


@pytest.mark.thorough
def test_no_kernel_is_left_to_compile_after_set_up(folders, tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert _run("-c", COMPILED, *folders, NUMBA_CACHE_DIR=str(tmp_path / "empty")) != ""
    _run("-m", "abstain._kernels", **cache)
    assert _run("-c", COMPILED, *folders, **cache) == ""


def test_rows_to_read_are_of_one_kind_wherever_they_come_from():
    rows = np.arange(12.0).reshape(3, 4)
    frozen = rows.copy()
    frozen.flags.writeable = False
    for each in (rows, frozen, rows.astype(np.float16), np.asfortranarray(rows), rows[:, ::2]):
        result = as_given(each)
        assert result.flags.c_contiguous
        assert not result.flags.writeable
        assert result.dtype == (np.float32 if each.dtype == np.float16 else np.float64)
        np.testing.assert_array_equal(result, each)
    assert rows.flags.writeable
