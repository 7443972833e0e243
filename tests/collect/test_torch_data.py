"""Modules, datasets and loaders of PyTorch, as they are."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import abstain
from abstain._errors import ChangedInputsError
from abstain.collect import CallableModel, Data, SampleError, TorchModel, collect
from abstain.collect.specs import model_from

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 6)).astype(np.float32), RNG.integers(3, size=50)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(5, 3))


class Items(Dataset):
    """Items of a form that the test chooses."""

    def __init__(self, form, x=X):
        self.form, self.x = form, x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, row):
        return self.form(torch.as_tensor(self.x[row]), int(Y[row]))


def check(outputs):
    expected = collect(TorchModel(network()), Data(X, labels=Y), "expected")
    np.testing.assert_allclose(outputs.logits, expected.logits, atol=1e-6)
    np.testing.assert_allclose(outputs.features, expected.features, atol=1e-6)
    np.testing.assert_array_equal(outputs.labels, Y)
    np.testing.assert_array_equal(outputs.weight, expected.weight)
    assert outputs.check_head().agrees


@pytest.mark.parametrize(
    "form",
    [
        lambda x, y: (x, y),
        lambda x, y: (x, y, {"hospital": 3}),
        lambda x, y: {"input": x, "label": y},
        lambda x, y: {"image": x, "target": torch.tensor(y)},
        lambda x, y: {"input": x, "labels": float(y), "path": torch.zeros(2)},
    ],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_a_module_with_a_dataset_or_a_loader(form, loaded):
    data = DataLoader(Items(form), batch_size=8) if loaded else Items(form)
    check(collect(network(), data, "run"))


def test_the_package_has_the_function_and_several_sets_become_one():
    loader = DataLoader(TensorDataset(torch.as_tensor(X[:20]), torch.as_tensor(Y[:20])), batch_size=8)
    check(abstain.collect.collect(network(), [loader, Data(X[20:], labels=Y[20:])], "run"))


def test_inputs_alone_and_models_that_take_keywords():
    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = network()

        def forward(self, input_ids, attention_mask):
            return {"logits": self.body(input_ids * attention_mask)}

    ones = torch.ones(6)
    check(collect(Two(), Items(lambda x, y: {"input_ids": x, "attention_mask": ones, "labels": y}), "run"))
    assert collect(network(), TensorDataset(torch.as_tensor(X)), "alone").labels is None


def test_an_iterable_that_breaks_off_when_read_again_ends_the_run():
    from abstain.collect import batches

    starts = []

    def make():
        starts.append(1)
        for first in range(0, 40, 8):
            if len(starts) > 1 and first == 16:
                raise OSError("gone")
            yield X[first : first + 8]

    with pytest.raises(ChangedInputsError, match="same batches every time, got no more of them when read again"):
        collect(CallableModel(lambda batch: np.stack(batch)[:, :3]), batches(make), "run", on_error="skip")


def test_padded_batches_stay_those_of_the_loader():
    class Bag(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.words, self.fc = torch.nn.Embedding(10, 4, padding_idx=0), torch.nn.Linear(4, 3)

        def forward(self, tokens):
            return self.fc(self.words(tokens).sum(1))

    texts = [torch.arange(1, 2 + row % 7) for row in range(30)]
    loader = DataLoader(texts, batch_size=7, collate_fn=lambda rows: torch.nn.utils.rnn.pad_sequence(rows, True))
    outputs = collect(Bag(), loader, "run")
    with torch.inference_mode():
        np.testing.assert_allclose(outputs.logits[3], Bag()(texts[3][None]).numpy()[0], atol=1e-6)
    with pytest.raises(ValueError, match=r"inputs of one shape in a batch, got \(2,\) and \(3,\)"):
        collect(Bag(), [loader, DataLoader(texts[:10], batch_size=3, collate_fn=loader.collate_fn)], "both")


def test_the_module_keeps_mode_and_counts_by_weights_settings_and_code():
    module = network()
    module[0].eval()
    data = Data(X, labels=Y)
    collect(module, data, "run")
    assert [part.training for part in module] == [False, True, True, True]
    collect(network(), data, "run")  # the same: nothing to do

    class Scaled(torch.nn.Module):
        def __init__(self, scale):
            super().__init__()
            self.body, self.scale = network(), scale

        def forward(self, x):
            return self.body(x) * self.scale

    def other(self, x):
        return self.body(x) + self.scale

    first = TorchModel(Scaled(1.0)).name
    again, changed = type("Scaled", (Scaled,), {}), type("Scaled", (Scaled,), {"forward": other})
    assert TorchModel(again(1.0)).name == first
    assert TorchModel(Scaled(2.0)).name != first
    assert TorchModel(changed(1.0)).name != first
    double = network().double()
    before = TorchModel(double).name
    with torch.no_grad():
        double[0].bias += 1e-12
    assert TorchModel(double).name != before
    for part in module.parameters():
        part.data.mul_(1.001)
    with pytest.raises(FileExistsError, match="made with other model"):
        collect(module, data, "run")


def test_other_contents_anywhere_are_noticed():
    collect(network(), Items(lambda x, y: (x, y)), "run")
    collect(network(), Items(lambda x, y: (x, y)), "run")
    changed = X.copy()
    changed[17, 2] += 1e-3
    with pytest.raises(FileExistsError, match="made with other inputs"):
        collect(network(), Items(lambda x, y: (x, y), changed), "run")
    with pytest.raises(FileExistsError, match="made with other labels"):
        collect(network(), Items(lambda x, y: (x, y * 0)), "run")


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_what_changes_between_two_readings_is_refused(on_error):
    pairs = TensorDataset(torch.as_tensor(X), torch.as_tensor(Y))
    torch.manual_seed(0)
    with pytest.raises(ChangedInputsError, match="same batches every time, got another batch 1"):
        collect(network(), DataLoader(pairs, batch_size=8, shuffle=True), "run", on_error=on_error)
    with pytest.raises(ChangedInputsError, match="same items every time, got another input in row 0"):
        collect(network(), Items(lambda x, y: (x + torch.rand(6), y)), "run", on_error=on_error)


def test_an_item_that_cannot_be_read_is_that_sample_s_failure():
    def fails(x, y):
        if x[0] == X[7, 0]:
            raise OSError("cut off")
        return x, y

    with pytest.raises(SampleError, match="Sample 7 cannot be read: OSError: cut off"):
        collect(network(), Items(fails), "run")
    outputs = collect(network(), Items(fails), "skipped", on_error="skip")
    np.testing.assert_array_equal(outputs.labels, np.delete(Y, 7))


class Stream(IterableDataset):
    def __iter__(self):
        return iter(X)


@pytest.mark.parametrize(
    ("model", "data", "error", "message"),
    [
        (network, X, TypeError, "Data, a DataLoader or a Dataset with a length, got ndarray. Wrap it: Data"),
        (network, [(X[0], 1)], TypeError, "got tuple. Wrap it"),
        (network, Stream(), TypeError, "got Stream. Put it into a DataLoader"),
        (network, DataLoader(Stream(), batch_size=None), ValueError, "got one with batch_size=None"),
        (network, Items(lambda x, y: (x, [y, 0.5])), ValueError, r"one class number or name per sample, got shape"),
        (network, Items(lambda x, y: (x, y + 0.5)), ValueError, "class numbers or names, got float64, such as"),
        (network, Items(lambda x, y: {"a": x, "b": x, "y": y}), ValueError, r"the module takes \(input\), got a, b"),
        (network, Items(lambda x, y: (x, y) if y else x), ValueError, "a label for each of the 50 inputs, got"),
        (
            lambda: np.sum,
            Data(X),
            TypeError,
            "`model` must be a Model, a .* got .* Wrap it: Callable",
        ),
        (lambda: 3, Data(X), TypeError, "`model` must be a Model, a torch.nn.Module or an estimator, got int.$"),
    ],
)
def test_what_does_not_fit_is_named(model, data, error, message):
    with pytest.raises(error, match=message) as info:
        collect(model(), data, "run")
    assert "\n" not in str(info.value)


def test_a_network_of_the_current_folder_is_found(tmp_path):
    (tmp_path / "mynets.py").write_text(
        "import torch\nfrom mysizes import WIDTH\nnet = torch.nn.Linear(WIDTH, 3)\n"
        "def make():\n    import mylate\n    return torch.nn.Linear(mylate.WIDTH, 3)\n"
        "class Net(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(WIDTH, 3)\n"
        "def sized(width):\n    return torch.nn.Linear(width, 3)\n"
        "table = {}\n"
    )
    for name in ("mysizes", "mylate"):
        (tmp_path / f"{name}.py").write_text("WIDTH = 6\n")
    (tmp_path / "mybroken.py").write_text("import no_such_thing\n")
    for name in ("net", "make", "Net"):
        assert collect(model_from(f"torch:mynets:{name}"), Data(X), name).logits.shape == (50, 3)
    for spec, message in (
        ("torch:mynet:net", "module that can be imported, got 'mynet': none of that name here or installed."),
        ("torch:mybroken:net", "got 'mybroken': ModuleNotFoundError: No module named 'no_such_thing'."),
        ("torch:mynets:nets", "an attribute of mynets, got 'nets'. Did you mean net?"),
        ("torch:mynets:table", "be or make a torch.nn.Module, got dict from 'table'."),
        ("torch:mynets:sized", "made without arguments, got 'sized': missing a required argument: 'width'."),
    ):
        with pytest.raises((ValueError, TypeError)) as info:
            model_from(spec)
        assert message in str(info.value)


def test_an_installed_module_comes_before_one_of_the_current_folder(tmp_path, monkeypatch):
    """In a process of its own, since a module that was imported once is not looked for."""
    monkeypatch.chdir(tmp_path)
    for name in ("fractions", "torch", "myown"):  # of Python, installed, and nowhere else
        (tmp_path / f"{name}.py").write_text(f"open('{name}-was-run', 'w')\nimport pathlib\nnet = 1\n")
    code = (
        "import sys; sys.path[:] = [p for p in sys.path if p]; sys.modules.pop('fractions', None)\n"
        "from abstain.collect.specs import model_from\n"
        "for spec in ('fractions:net', 'torch.nn:Identity', 'myown:net'):\n"
        "    try: model_from('torch:' + spec)\n"
        "    except (ValueError, TypeError) as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(path.name for path in tmp_path.glob("*-was-run")) == ["myown-was-run"]
    assert "comes before fractions.py of the current folder: rename the file." in done.stdout
    assert done.stderr == "abstain: the module myown is taken from the current folder.\n"


def test_a_function_is_no_module_until_it_is_wrapped():
    assert collect(CallableModel(lambda batch: np.stack(batch)[:, :3]), Data(X), "run").n_classes == 3
