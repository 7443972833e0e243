"""Nothing stale: other inputs, transform, seed or model are refused or computed, never mixed; kills at every event."""

import os
import shutil
import sys
from functools import partial

import numpy as np
import pytest

from abstain._io.fingerprint import digest
from abstain.collect import CallableModel, Data, batches, collect, image_folder

pytestmark = pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # of JAX, where it was loaded before
WEIGHT = np.random.default_rng(9).normal(size=(3, 4)).astype(np.float32)
LABELS = np.random.default_rng(1).integers(3, size=60)


def model(scale=1.0, name="linear"):
    return CallableModel(lambda inputs: np.stack(inputs) @ (scale * WEIGHT.T), name=name)


def inputs(seed=0):
    return np.random.default_rng(seed).normal(size=(60, 4)).astype(np.float32)


def noisy(x, row, *, seed):
    return x + np.random.default_rng([seed, row]).normal(size=4).astype(np.float32)


def run(data, position, which=None, *, shard=10):
    return collect(which or model(), data, position, batch_size=min(5, shard), shard_size=shard)


def contents(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (Data(inputs(1), labels=LABELS), "inputs"),
        (Data(inputs(), labels=LABELS).shifted(partial(noisy, seed=0), domain="clean", shift="none"), "transform"),
        (Data(inputs(), labels=1 - np.minimum(LABELS, 1)), "labels"),
        (Data(inputs(), labels=LABELS, ids=np.arange(60)), "ids"),
        (Data(inputs(), labels=LABELS, domain="fog"), "domain"),
    ],
)
def test_what_changed_is_named_whether_the_run_is_done_or_cut_off(changed, named, tmp_path):
    data = Data(inputs(), labels=LABELS)
    run(data, tmp_path / "done")
    with pytest.raises(FileExistsError, match=f"made with other .*{named}"):
        run(changed, tmp_path / "done")
    killed(lambda: run(data, tmp_path / "cut"), at=12)
    assert (tmp_path / ".cut.collect").exists()
    with pytest.raises(ValueError, match=f"a run with other .*{named}"):
        run(changed, tmp_path / "cut")


def test_another_seed_of_a_transform_is_another_run(tmp_path):
    clean = Data(inputs(), labels=LABELS)
    run(clean.shifted(partial(noisy, seed=0), domain="noisy"), tmp_path / "run")
    with pytest.raises(FileExistsError, match="made with other transform"):
        run(clean.shifted(partial(noisy, seed=1), domain="noisy"), tmp_path / "run")


def test_lists_files_and_batches_count_by_what_they_hold(tmp_path):
    texts = [f"text {number}" for number in range(60)]
    as_text = CallableModel(lambda batch: 2 * np.eye(3)[[len(text) % 3 for text in batch]], name="text")
    collect(as_text, Data(texts), tmp_path / "texts")
    with pytest.raises(FileExistsError, match="other inputs"):
        collect(as_text, Data([*texts[:-30], "changed", *texts[-29:]]), tmp_path / "texts")
    loaders = [lambda seed=seed: iter(np.array_split(inputs(seed), 6)) for seed in (0, 1)]
    run(batches(loaders[0]), tmp_path / "batches")
    with pytest.raises(FileExistsError, match="other inputs"):
        run(batches(loaders[1]), tmp_path / "batches")


def test_a_file_that_was_replaced_is_noticed(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for number in range(4):
        (tmp_path / "images" / str(number % 2)).mkdir(parents=True, exist_ok=True)
        pixels = np.full((4, 4, 3), 10 * number, dtype=np.uint8)
        image.fromarray(pixels).save(tmp_path / "images" / str(number % 2) / f"{number}.png")
    before = image_folder(tmp_path / "images").fingerprint()
    assert image_folder(tmp_path / "images").fingerprint() == before
    file = tmp_path / "images" / "0" / "0.png"
    image.fromarray(np.full((5, 5, 3), 200, dtype=np.uint8)).save(file)
    assert image_folder(tmp_path / "images").fingerprint()["inputs"] != before["inputs"]


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("dear diary")
    with pytest.raises(FileExistsError, match="must be new or a run of collect"):
        run(Data(inputs(), labels=LABELS), tmp_path / "mine")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "dear diary"


def test_a_shard_of_another_run_is_computed_again(tmp_path):
    data = Data(inputs(), labels=LABELS)
    killed(lambda: run(data, tmp_path / "run", model(scale=5.0, name="other")), at=12)
    (tmp_path / ".run.collect" / "settings.json").unlink()  # as an earlier version could leave it
    shards = list((tmp_path / ".run.collect").glob("shard-*"))
    assert shards
    run(data, tmp_path / "run")
    run(data, tmp_path / "whole")
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_digests_tell_types_shapes_and_nesting_apart():
    values = [1, 1.0, "1", b"1", [1], (1,), {"a": 1}, np.array([1]), np.array([1.0]), np.array([[1]]), None, True]
    assert len({digest(value) for value in values}) == len(values)
    assert digest(np.arange(6).reshape(2, 3)) == digest(np.asfortranarray(np.arange(6).reshape(2, 3)))


def test_the_digest_of_a_function_covers_the_module_it_calls_in_any_precision():
    torch = pytest.importorskip("torch")

    class Scaled(torch.nn.Linear):
        def __init__(self, factor):
            super().__init__(3, 2)
            self.factor = factor

    class Negative(Scaled):
        def forward(self, x):
            return -super().forward(x)

    def digest_of(network):
        return digest(lambda x: network(x))

    first, other, negative = Scaled(1.0), Scaled(2.0), Negative(1.0)
    for network in (other, negative):
        network.load_state_dict(first.state_dict())
    Negative.__name__ = Negative.__qualname__ = "Scaled"
    assert len({digest_of(network) for network in (first, other, negative)}) == 3
    before = digest_of(first)
    assert digest_of(first.to(torch.bfloat16)) != before


def killed(work, *, at):
    """Run in a child process that dies at a file system event; whether it came to its end before."""
    child = os.fork()
    if child == 0:
        seen = 0

        def hook(event, arguments):
            nonlocal seen
            writes = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wxa+")
            if writes or event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"):
                seen += 1
                if seen == at:
                    os._exit(9)

        sys.addaudithook(hook)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


COARSE = pytest.param(10, 30, id="coarse")
FINE = pytest.param(1, 160, id="fine", marks=pytest.mark.thorough)


@pytest.mark.parametrize(("shard", "events"), [COARSE, FINE])
def test_killed_at_every_event_it_ends_with_the_same_bytes_and_no_litter(shard, events, tmp_path):
    data = Data(inputs(), labels=LABELS)
    run(data, tmp_path / "whole", shard=shard)
    expected, event, finished = contents(tmp_path / "whole"), 0, False
    while not finished:
        event += 1
        finished = killed(lambda: run(data, tmp_path / "run", shard=shard), at=event)
        run(data, tmp_path / "run", shard=shard)
        assert contents(tmp_path / "run") == expected, f"killed at event {event}"
        left = sorted(path.name for path in tmp_path.iterdir())
        assert left == ["run", "whole"], f"killed at event {event}"
        shutil.rmtree(tmp_path / "run")
    print(f"killed at {event - 1} events, 0 differ")
    assert event > events


def changes():
    """By name, what a run was begun with and what it is called with next."""
    clean = Data(inputs(), labels=LABELS)

    def noise(seed):
        return clean.shifted(partial(noisy, seed=seed), domain="clean", shift="none")

    def only(row):  # another transform, that differs in one row
        return clean.shifted(lambda x, at: 2 * x if at == row else x, domain="clean", shift="none")

    return {
        "inputs": ((clean, model()), (Data(inputs(1), labels=LABELS), model())),
        "model": ((clean, model()), (clean, model(scale=5.0, name="other"))),
        "seed": ((noise(0), model()), (noise(1), model())),
        "transform": ((only(3), model()), (only(4), model())),
    }


@pytest.mark.parametrize(("shard", "events"), [COARSE, FINE])
@pytest.mark.parametrize(
    "change", ["inputs", "model", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("seed", "transform"))]
)
def test_killed_and_called_with_another_thing_it_never_mixes(change, shard, events, tmp_path):
    (old, old_model), (new, new_model) = changes()[change]
    run(new, tmp_path / "whole", new_model, shard=shard)
    expected, event, finished, refused = contents(tmp_path / "whole"), 0, False, 0
    while not finished:
        event += 1
        finished = killed(lambda: run(old, tmp_path / "run", old_model, shard=shard), at=event)
        try:
            run(new, tmp_path / "run", new_model, shard=shard)
            assert contents(tmp_path / "run") == expected, f"killed at event {event}"
        except (FileExistsError, ValueError) as error:
            assert f"other {'transform' if change == 'seed' else change}" in str(error)  # noqa: PT017
            refused += 1
        for left in tmp_path.glob("*run*"):
            shutil.rmtree(left)
    print(f"killed at {event - 1} events, {refused} refused, {event - refused} computed anew, 0 mixed")
    assert event > events
    assert refused > events // 2
