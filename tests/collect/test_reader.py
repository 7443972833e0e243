"""Worker processes and parts: the same bytes as one process alone, overlapped, bounded, and gone when it is."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from abstain._errors import ChangedInputsError
from abstain._io.locks import is_alive
from abstain.collect import CallableModel, Data, SampleError, TorchModel, collect, collect_part, image_folder
from abstain.collect.reader import AHEAD, in_workers

torch = pytest.importorskip("torch")
Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where it was loaded before


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(75, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))


def tensors(images):
    return torch.stack([torch.as_tensor(np.array(image.resize((5, 5)))).permute(2, 0, 1) / 255 for image in images])


def noisy(image, row):
    noise = np.random.default_rng(row).integers(0, 30, size=(8, 9, 3), dtype=np.uint8)
    return Image.fromarray(np.asarray(image) // 2 + noise)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    root = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    for number in range(60):
        folder = root / "abc"[number % 3]
        folder.mkdir(exist_ok=True)
        Image.fromarray(rng.integers(256, size=(8, 9, 3), dtype=np.uint8)).save(folder / f"{number:02}.png")
    clean = image_folder(root)
    return [clean, clean.shifted(noisy, domain="noisy")]


def run(data, folder, **options):
    model = TorchModel(network(), prepare=tensors, class_names=("a", "b", "c"))
    return collect(model, data, folder, batch_size=8, shard_size=16, **options)


def contents(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def whole(images, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "run"
    run(images, folder)
    return contents(folder)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers_gives_the_same_bytes(workers, images, whole, tmp_path):
    run(images, tmp_path / "run", workers=workers)
    assert contents(tmp_path / "run") == whole


@pytest.mark.parametrize("order", ["123", "312"])
def test_parts_merge_to_the_bytes_of_a_whole_run(order, images, whole, tmp_path):
    model = TorchModel(network(), prepare=tensors, class_names=("a", "b", "c"))
    result = [collect_part(model, images, tmp_path / "run", f"{part}/3", batch_size=8, shard_size=16) for part in order]
    assert result[:2] == [None, None]
    assert len(result[2]) == 120
    assert contents(tmp_path / "run") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    again = collect_part(model, images, tmp_path / "run", "1/3", batch_size=8, shard_size=16)
    assert len(again) == 120


def test_parts_of_two_machines_are_joined_where_their_shards_are_copied(images, whole, tmp_path):
    model = TorchModel(network(), prepare=tensors, class_names=("a", "b", "c"))
    for machine, part in (("one", "1/2"), ("two", "2/2")):
        assert collect_part(model, images, tmp_path / machine / "run", part, batch_size=8, shard_size=16) is None
    for shard in (tmp_path / "two" / ".run.collect").glob("shard-*"):
        shutil.copy(shard, tmp_path / "one" / ".run.collect")
    collect_part(model, images, tmp_path / "one" / "run", "1/2", batch_size=8, shard_size=16)
    assert contents(tmp_path / "one" / "run") == whole


PART = """
import sys
sys.path.insert(0, {here!r})
from test_lock import N, WIDTH
import numpy as np, time
from abstain.collect import CallableModel, Data, collect_part

def slow(inputs):
    time.sleep(0.005)
    x = np.stack(inputs)
    return x[:, :5] + 1, x

data = Data(np.arange(N * WIDTH, dtype=np.float32).reshape(N, WIDTH))
sys.stdin.readline()
found = collect_part(CallableModel(slow, name="slow"), data, sys.argv[1], sys.argv[2], batch_size=50, shard_size=100)
print("whole" if found is not None else "part")
"""


def test_parts_at_once_share_a_folder_and_the_last_one_finishes(tmp_path):
    script = PART.format(here=os.path.dirname(__file__))
    for trial in range(2):
        folder = tmp_path / str(trial)
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(folder), f"{part}/4"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for part in (1, 2, 3, 4, 4)
        ]  # fmt: skip
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [process.communicate() for process in processes]
        codes = [process.returncode for process in processes]
        assert codes[:3] == [0, 0, 0], said
        assert 0 in codes[3:]
        assert all(code == 0 or "must not be in use" in err for code, (_, err) in zip(codes, said, strict=True)), said
        expected = np.arange(4000 * 64, dtype=np.float32).reshape(4000, 64)
        np.testing.assert_array_equal(np.load(folder / "features.npy"), expected)


def test_a_part_of_another_run_is_refused(images, tmp_path):
    model = TorchModel(network(), prepare=tensors, class_names=("a", "b", "c"))
    collect_part(model, images, tmp_path / "run", "1/2", batch_size=8, shard_size=16)
    with pytest.raises(ValueError, match="a run with other batch_size, shard_size"):
        collect_part(model, images, tmp_path / "run", "2/2", batch_size=4)
    for part in ("0/2", "3/2", "2", "a/b", "1/0"):
        with pytest.raises(ValueError, match="`part` must be NUMBER/OF"):
            collect_part(model, images, tmp_path / "other", part)


class Brittle:
    """SampleInputs that the test chooses to fail."""

    def __init__(self, failing):
        self.failing = failing

    def __len__(self):
        return 40

    def __getitem__(self, row):
        if row in self.failing:
            raise self.failing[row]
        return np.full(3, row, dtype=np.float32)


class OddError(Exception):
    """It does not pickle."""

    def __init__(self, first, two):
        super().__init__(f"{first} and {two}")


@pytest.mark.parametrize("workers", [0, 2])
def test_samples_that_fail_are_the_same_with_workers(workers, tmp_path):
    data = Data(Brittle({7: OSError("cut off"), 8: OddError(1, 2)}))
    model = CallableModel(np.stack)
    with pytest.raises(SampleError, match="Sample 7 cannot be read: OSError: cut off"):
        collect(model, data, tmp_path / "run", batch_size=5, shard_size=10, workers=workers)
    outputs = collect(model, data, tmp_path / "skip", batch_size=5, shard_size=10, workers=workers, on_error="skip")
    assert [int(name.rpartition("-")[2]) for name in outputs.ids] == [row for row in range(40) if row not in (7, 8)]
    assert "OddError: 1 and 2" in (tmp_path / "skip" / "collect.json").read_text()
    with pytest.raises(ChangedInputsError, match="must be the same"):
        collect(model, Data(Brittle({9: ChangedInputsError("must be the same")})), tmp_path / "o", workers=workers)


def test_an_error_of_the_preparation_crosses_over(tmp_path):
    def prepare(_):
        raise OddError(3, 4)

    module = TorchModel(torch.nn.Linear(3, 2), prepare=prepare)
    with pytest.raises(RuntimeError, match="OddError: 3 and 4"):
        collect(module, Data(np.zeros((9, 3), dtype=np.float32)), tmp_path / "run", workers=1)


def test_a_worker_that_is_killed_is_named_and_the_run_goes_on(tmp_path):
    parent = os.getpid()

    class Deadly(Brittle):
        def __getitem__(self, row):
            if row == 30 and os.getpid() != parent:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__getitem__(row)

    data, model = Data(Deadly({})), CallableModel(np.stack)
    with pytest.raises(OSError, match="`workers` must not die, got one that was killed"):
        collect(model, data, tmp_path / "run", batch_size=5, shard_size=5, workers=1)
    assert len(collect(model, data, tmp_path / "run", batch_size=5, shard_size=5)) == 40


def test_batches_that_come_in_order_have_no_workers_here(tmp_path):
    loader = torch.utils.data.DataLoader(torch.zeros(9, 3), batch_size=3)
    with pytest.raises(ValueError, match=r"`workers` must be 0 for batches that come in order, got 2. A DataLoader"):
        collect(torch.nn.Linear(3, 2), loader, tmp_path / "run", workers=2)
    with pytest.raises(ValueError, match="`workers` must be at least 0, got -1"):
        collect(torch.nn.Linear(3, 2), Data(np.zeros((9, 3))), tmp_path / "run", workers=-1)


def test_a_dataset_is_read_by_workers_both_times(tmp_path):
    class Where(torch.utils.data.Dataset):
        def __len__(self):
            return 200

        def __getitem__(self, row):
            with open(tmp_path / f"read-by-{os.getpid()}", "a") as file:
                file.write("x")
            return torch.full((3,), float(row)), torch.tensor(row % 2)

    outputs = collect(torch.nn.Linear(3, 2), Where(), tmp_path / "run", workers=2, batch_size=10)
    assert outputs.labels.tolist() == [row % 2 for row in range(200)]
    readers = {file.name: file.stat().st_size for file in tmp_path.glob("read-by-*")}
    assert f"read-by-{os.getpid()}" not in readers
    assert sum(readers.values()) == 400


def test_workers_read_ahead_of_the_model_but_not_far():
    begun = []

    def tasks():
        for number in range(50):
            begun.append(number)
            yield number

    results = in_workers(lambda number: number * number, tasks(), 2)
    assert next(results) == 0
    time.sleep(0.2)
    assert len(begun) == 2 * AHEAD + 1
    assert list(results) == [number * number for number in range(1, 50)]


ORPHANS = """
import os, sys, time
from abstain.collect.reader import in_workers

def work(number):
    time.sleep(0.05)
    return os.getpid()

for found in in_workers(work, range(1000), 2):
    print(found, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers that are forked may run anything")
def test_four_workers_read_four_times_as_fast_where_cores_do_not_matter():
    """A reader that sleeps in place of decoding: whatever stood between workers and model would show."""
    file = Path(__file__).parents[2] / "benchmarks" / "decoding.py"
    spec = importlib.util.spec_from_file_location("decoding", file)
    decoding = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(decoding)
    times = decoding.compare(decoding.Asleep(0.02), decoding.batches_of(128, decoding.NAP_BATCH), [1, 4], rounds=3)
    assert times[4] >= 2.5


def test_workers_end_with_a_process_that_is_killed():
    process = subprocess.Popen([sys.executable, "-c", ORPHANS], stdout=subprocess.PIPE, text=True)
    workers = {int(process.stdout.readline()) for _ in range(6)}
    assert len(workers) == 2
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    until = time.monotonic() + 20
    while any(is_alive(worker) for worker in workers) and time.monotonic() < until:
        time.sleep(0.05)
    alive = [worker for worker in workers if is_alive(worker)]
    for worker in alive:
        os.kill(worker, signal.SIGKILL)
    assert not alive


def test_half_precision_is_refused_where_it_would_end_the_process(tmp_path, monkeypatch):
    monkeypatch.setattr("abstain.collect.torch_model.runs_bfloat16", lambda: False)
    with pytest.raises(ValueError, match="`amp` must be left out on a processor that cannot run bfloat16"):
        collect(TorchModel(network(), amp=True), Data(np.zeros((4, 75), np.float32)), tmp_path / "run")


def test_half_precision_keeps_the_head_exact_and_is_another_run(tmp_path):
    from abstain.collect.torch_model import runs_bfloat16

    if not runs_bfloat16():
        pytest.skip("this processor cannot run bfloat16")
    x = np.random.default_rng(0).normal(size=(400, 75)).astype(np.float32)
    plain, half = (
        collect(TorchModel(network(), amp=amp), Data(x), tmp_path / str(amp), batch_size=100) for amp in (False, True)
    )
    assert half.logits.dtype == np.float32
    assert half.check_head().agrees
    assert len(np.unique(half.logits[:, 0])) == 400  # eight bits would tie
    assert 0 < np.abs(half.logits - plain.logits).max() < 0.1
    with pytest.raises(FileExistsError, match="made with other model"):
        collect(TorchModel(network(), amp=True), Data(x), tmp_path / "False", batch_size=100)
    parts = [
        collect_part(TorchModel(network(), amp=True), Data(x), tmp_path / "parts", part, batch_size=100, shard_size=100)
        for part in ("2/2", "1/2")
    ]
    np.testing.assert_array_equal(parts[1].logits, half.logits)


def test_a_model_of_ones_own_prepares_its_inputs_once(tmp_path):
    from abstain.collect import Model
    from abstain.collect.model import NamedModel

    class Own(Model):
        name = "own"

        def prepare(self, inputs):
            return np.stack(inputs) + 1

        def run(self, prepared):
            return prepared, None

    x = np.zeros((9, 3), dtype=np.float32)
    for number, model in enumerate((Own(), NamedModel(Own()))):
        assert (collect(model, Data(x), tmp_path / str(number)).logits == 1).all()
