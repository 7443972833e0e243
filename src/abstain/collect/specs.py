"""Models and data as `collect` takes them: by a short name, as the command does, or as objects."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from abstain._errors import InvalidInputError, InvalidTypeError, MissingFileError
from abstain._model_kinds import MODEL_KINDS, model_specs
from abstain._names import did_you_mean
from abstain.collect.data import Data
from abstain.collect.hf_dataset import hf_dataset
from abstain.collect.image_folder import image_folder
from abstain.collect.model import Model, ModelOptions
from abstain.collect.sklearn_model import SklearnModel
from abstain.collect.table import table
from abstain.collect.torch_model import TorchModel
from abstain.outputs.arrays import read_npz


def model_from(spec: str, options: ModelOptions | None = None, /) -> Model:
    """The model that a spec names, such as ``onnx:net.onnx``."""
    options = options or ModelOptions()
    name, _, rest = spec.partition(":")
    kind = MODEL_KINDS.get(name)
    if kind is None or not rest or rest.count(":") < kind.form.count(":"):
        hint = did_you_mean(name, set(MODEL_KINDS) - {name}, otherwise="")
        raise InvalidInputError(f"`model` must be one of {model_specs()}, got {spec!r}. {hint}".rstrip())
    if options.amp and not kind.runs_torch:
        raise InvalidInputError(f"`amp` must be left out for a model that PyTorch does not run, got it with {spec!r}.")
    made: Model = import_module(f"abstain.collect.{kind.module}").from_spec(rest, options)
    return made


def as_model(model: Model | Any, /) -> Model:
    """A `Model` from a `Model`, a ``torch.nn.Module``, which stays on its device and in its mode, or an estimator."""
    if isinstance(model, Model):
        return model
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return SklearnModel(model)
    torch = sys.modules.get("torch")  # who has a module has imported it
    if torch is None or not isinstance(model, torch.nn.Module):
        kind = type(model).__name__
        hint = " Wrap it: CallableModel(function)." if callable(model) else ""
        raise InvalidTypeError(f"`model` must be a Model, a torch.nn.Module or an estimator, got {kind}.{hint}")
    first = next(iter((*model.parameters(), *model.buffers())), None)
    return TorchModel(model, device="cpu" if first is None else str(first.device))


class DataKind(NamedTuple):
    """Whether a path holds data of this kind, and how they are read."""

    fits: Callable[[Path], bool]
    read: Callable[[Path], Data]


def _arrays(path: Path) -> Data:
    arrays = read_npz(path)
    if "inputs" not in arrays:
        raise InvalidInputError(f"`{path}` must hold an array named inputs, got {', '.join(arrays)}.")
    return Data(arrays["inputs"], labels=arrays.get("labels"), domain=path.stem)


DATA_KINDS = {
    "arrays": DataKind(lambda path: path.suffix == ".npz", _arrays),
    "table": DataKind(Path.is_file, table),
    "hf_dataset": DataKind(lambda path: (path / "dataset_info.json").exists(), hf_dataset),
    "image_folder": DataKind(Path.is_dir, image_folder),
}
"""The first that fits is taken."""


def data_from(name: str, /, *, unknown: bool = False) -> Data:
    """The data at a path, of the first kind that fits; with ``unknown``, all of classes the model does not know."""
    path = Path(name)
    if not path.exists():
        raise MissingFileError(f"`data` must exist, got {name}.")
    data = next(kind for kind in DATA_KINDS.values() if kind.fits(path)).read(path)
    return data.of_unknown_classes() if unknown else data
