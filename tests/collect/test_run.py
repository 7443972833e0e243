"""Runs that are cut off, fail or go on."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Outputs
from abstain.collect import CallableModel, Data, SampleError, batches, collect

WEIGHT = np.random.default_rng(9).normal(size=(3, 4)).astype(np.float32)


def linear(inputs):
    x = np.stack(inputs).astype(np.float32)
    return x @ WEIGHT.T, x


def make_data(n=100, seed=0, **known):
    rng = np.random.default_rng(seed)
    return Data(rng.normal(size=(n, 4)).astype(np.float32), labels=rng.integers(3, size=n), **known)


MODEL = CallableModel(linear, name="linear")


def contents(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_outputs_are_those_of_the_model(tmp_path):
    data = make_data()
    outputs = collect(MODEL, data, tmp_path / "run", batch_size=7, shard_size=20)
    x = np.stack([data[row] for row in range(100)])
    np.testing.assert_allclose(outputs.logits, x @ WEIGHT.T, rtol=1e-5)
    np.testing.assert_array_equal(outputs.features, x)
    np.testing.assert_array_equal(outputs.labels, data.labels)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_parts_become_one_with_their_domain_shift_and_ids(tmp_path):
    clean = make_data(10, ids=np.array([f"a{i}" for i in range(10)]), domain="clean")
    noisy = clean.shifted(lambda x, row: x + row, domain="noisy")
    unknown = Data(make_data(5, seed=3).inputs, ids=np.array([f"b{i}" for i in range(5)]), domain="new", shift="label")
    outputs = collect(MODEL, [clean, noisy, unknown], tmp_path / "run", batch_size=4, shard_size=8)
    assert outputs.shift.tolist() == ["none"] * 10 + ["covariate"] * 10 + ["label"] * 5
    assert outputs.domain.tolist() == ["clean"] * 10 + ["noisy"] * 10 + ["new"] * 5
    assert outputs.ids[:10].tolist() == outputs.ids[10:20].tolist()
    assert (outputs.labels[20:] == -1).all()
    np.testing.assert_allclose(outputs.features[13], clean[3] + 3)


def test_called_again_it_returns_at_once(tmp_path):
    calls = []
    model = CallableModel(lambda inputs: (calls.append(1), linear(inputs))[1], name="linear")
    collect(model, make_data(), tmp_path / "run")
    before = len(calls)
    collect(model, make_data(), tmp_path / "run")
    assert len(calls) == before


def test_another_model_or_data_is_refused_in_the_same_place(tmp_path):
    collect(MODEL, make_data(), tmp_path / "run")
    with pytest.raises(FileExistsError, match="must be new for another model, data or setting"):
        collect(CallableModel(linear, name="other"), make_data(), tmp_path / "run")
    with pytest.raises(FileExistsError, match="must be new for another model, data or setting"):
        collect(MODEL, make_data(seed=1), tmp_path / "run")


def test_one_call_of_the_model_a_batch(tmp_path):
    sizes = []
    model = CallableModel(lambda inputs: (sizes.append(len(inputs)), linear(inputs))[1], name="linear")
    collect(model, make_data(100), tmp_path / "run", batch_size=32, shard_size=64)
    assert sizes == [32, 32, 32, 4]


def test_a_failure_half_way_costs_one_shard(tmp_path):
    sizes = []

    def fragile(inputs):
        sizes.append(len(inputs))
        if len(sizes) == 4:
            raise RuntimeError("power cut")
        return linear(inputs)

    with pytest.raises(RuntimeError, match="power cut"):
        collect(CallableModel(fragile, name="linear"), make_data(100), tmp_path / "run", batch_size=20, shard_size=40)
    outputs = collect(
        CallableModel(fragile, name="linear"), make_data(100), tmp_path / "run", batch_size=20, shard_size=40
    )
    assert len(outputs) == 100
    assert sizes == [20] * 3 + [20] + [20] * 3  # the second shard and the last again, not the first
    collect(MODEL, make_data(100), tmp_path / "whole", batch_size=20, shard_size=40)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


RUN = """
import sys, time
sys.path.insert(0, {here!r})
from test_run import linear, make_data
from abstain.collect import CallableModel, collect

def slow(inputs):
    time.sleep(0.01)
    return linear(inputs)

print("ready", flush=True)
collect(CallableModel(slow, name="linear"), make_data(400), sys.argv[1], batch_size=10, shard_size=20)
"""


def test_killed_at_random_moments_it_ends_with_the_same_bytes(tmp_path):
    script = RUN.format(here=os.path.dirname(__file__))
    rng = np.random.default_rng(0)
    kills = 0
    for patience in [*rng.uniform(0.05, 0.3, size=6), None]:  # the last run ends, however busy the machine
        process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "run")], stdout=subprocess.PIPE)
        process.stdout.readline()
        try:
            process.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
        process.stdout.close()
        if process.returncode == 0:
            break
    assert process.returncode == 0
    assert kills >= 2
    collect(MODEL, make_data(400), tmp_path / "whole", batch_size=10, shard_size=20)
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


class Brittle:
    """SampleInputs of which some cannot be read."""

    def __init__(self, n, bad):
        self.values, self.bad = np.ones((n, 4), dtype=np.float32), bad

    def __len__(self):
        return len(self.values)

    def __getitem__(self, row):
        if row in self.bad:
            raise OSError("image file is truncated")
        return self.values[row]


def test_a_sample_that_cannot_be_read_stops_the_run_with_its_name(tmp_path):
    data = Data(Brittle(10, {6}), labels=np.zeros(10, dtype=int), ids=np.array([f"cat/{i}.png" for i in range(10)]))
    with pytest.raises(SampleError, match=r"Sample cat/6.png cannot be read: OSError: image file is truncated"):
        collect(MODEL, data, tmp_path / "run")


def test_skipped_samples_are_recorded_and_left_out(tmp_path):
    data = Data(Brittle(10, {2, 6}), labels=np.arange(10) % 3, ids=np.array([f"{i}.png" for i in range(10)]))
    outputs = collect(MODEL, data, tmp_path / "run", batch_size=4, shard_size=4, on_error="skip")
    assert outputs.ids.tolist() == [f"{i}.png" for i in range(10) if i not in (2, 6)]
    failures = json.loads((tmp_path / "run" / "collect.json").read_text())["failures"]
    assert [failure["sample"] for failure in failures] == ["2.png", "6.png"]
    assert "truncated" in failures[0]["reason"]


def test_nothing_readable_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="got 3 failures and no success"):
        collect(MODEL, Data(Brittle(3, {0, 1, 2})), tmp_path / "run", on_error="skip")


def test_nan_logits_are_refused_with_the_sample_named(tmp_path):
    def broken(inputs):
        z, x = linear(inputs)
        z[1] = np.nan
        return z, x

    with pytest.raises(SampleError, match="Sample 1 has logits or features that are not finite"):
        collect(CallableModel(broken, name="broken"), make_data(10), tmp_path / "run")


def test_label_names_are_matched_and_others_are_unknown(tmp_path):
    model = CallableModel(linear, name="named")
    model.class_names = ("cat", "dog", "gnu")
    data = Data(np.ones((3, 4), dtype=np.float32), labels=np.array(["dog", "yeti", "cat"]))
    outputs = collect(model, data, tmp_path / "run")
    assert outputs.labels.tolist() == [1, -1, 0]
    assert outputs.shift.tolist() == ["none", "label", "none"]
    assert outputs.class_names == ("cat", "dog", "gnu")


def test_names_that_match_nothing_are_taken_for_a_mistake(tmp_path):
    model = CallableModel(linear, name="named")
    model.class_names = ("cat", "dog", "gnu")
    data = Data(np.ones((1, 4), dtype=np.float32), labels=np.array(["dogs"]))
    with pytest.raises(ValueError, match=r"got 'dogs' and no name that is one. Did you mean dog\?"):
        collect(model, data, tmp_path / "run")


def test_batches_of_any_iterable(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32), np.arange(50) % 3

    def loader():
        for start in range(0, 50, 8):
            yield x[start : start + 8], y[start : start + 8]

    outputs = collect(MODEL, batches(loader), tmp_path / "run", batch_size=6, shard_size=12)
    np.testing.assert_array_equal(outputs.features, x)
    np.testing.assert_array_equal(outputs.labels, y)


def test_memory_does_not_grow_with_the_data(tmp_path):
    import tracemalloc

    class Many:
        def __len__(self):
            return 20_000

        def __getitem__(self, row):
            return np.full(4, row, dtype=np.float32)

    wide = np.ones((4, 500), dtype=np.float32)
    model = CallableModel(lambda inputs: np.stack(inputs) @ wide, name="wide")
    tracemalloc.start()
    outputs = collect(model, Data(Many()), tmp_path / "run", batch_size=100, shard_size=500)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outputs.logits.nbytes == 40_000_000
    assert peak < 25_000_000


def test_progress_counts_samples(tmp_path):
    seen = []
    collect(MODEL, make_data(50), tmp_path / "run", batch_size=10, shard_size=20, progress=lambda *p: seen.append(p))
    assert seen == [(0, 50), (10, 50), (20, 50), (30, 50), (40, 50), (50, 50)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_error": "ignore"}, "`on_error` must be 'raise' or 'skip'"),
        ({"batch_size": 0}, "`shard_size` must be at least `batch_size`"),
        ({"batch_size": 64, "shard_size": 32}, "`shard_size` must be at least `batch_size`"),
    ],
)
def test_bad_options_are_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        collect(MODEL, make_data(), tmp_path / "run", **options)


def test_empty_data_and_wrong_shapes_are_named(tmp_path):
    with pytest.raises(ValueError, match="`data` must have samples"):
        collect(MODEL, Data(np.empty((0, 4))), tmp_path / "run")
    with pytest.raises(ValueError, match=r"`model` must give logits of shape \(100, K\), got \(3,\)"):
        collect(CallableModel(lambda _: np.zeros(3), name="flat"), make_data(), tmp_path / "run", batch_size=100)


def test_a_saved_run_can_be_evaluated(tmp_path):
    import abstain

    collect(MODEL, make_data(200), tmp_path / "run")
    assert abstain.evaluate(Outputs.load(tmp_path / "run"), scores=["max_softmax"]).n == 200


def test_integer_classes_of_a_classifier_are_what_integer_labels_name(tmp_path):
    x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([-1, -1, 1, 1])
    outputs = collect(LogisticRegression().fit(x, y), Data(x, labels=y), tmp_path / "o")
    assert outputs.labels.tolist() == [0, 0, 1, 1]
    assert not outputs.errors.any()
    assert outputs.class_names == ("-1", "1")


@pytest.mark.parametrize("name", ["n" * 236, "n" * 255, "é" * 127])
def test_a_folder_may_have_the_longest_name(tmp_path, name):
    assert len(collect(MODEL, make_data(10), tmp_path / name)) == 10
    assert [path.name for path in tmp_path.iterdir()] == [name]


WEIGHTS = np.eye(3)


def weighed(inputs):
    return np.stack(inputs)[:, :3] @ WEIGHTS


def test_a_function_without_a_name_is_known_by_its_code_and_what_it_reads(monkeypatch):
    def scaled(by):
        return lambda inputs: np.stack(inputs)[:, :3] * by

    assert CallableModel(scaled(2.0)).name == CallableModel(scaled(2.0)).name != CallableModel(scaled(3.0)).name
    before = CallableModel(weighed).name
    assert CallableModel(weighed).name == before
    monkeypatch.setitem(globals(), "WEIGHTS", 2 * np.eye(3))
    assert CallableModel(weighed).name != before


def test_the_name_of_a_file_is_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(ValueError, match=r"must be the name of a folder, got run\.parquet, that of a file"):
        collect(MODEL, make_data(), tmp_path / "run.parquet")
    assert list(tmp_path.iterdir()) == []
