"""Models and data by a short name, as the command takes them."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect.data import Data
from abstain.collect.hf_dataset import hf_dataset
from abstain.collect.hf_model import hf_model
from abstain.collect.image_folder import image_folder
from abstain.collect.magika_model import files_by_ending, magika_model
from abstain.collect.model import Model
from abstain.collect.onnx_model import OnnxModel
from abstain.collect.sklearn_model import SklearnModel
from abstain.collect.table import table
from abstain.collect.timm_model import load_weights, timm_model
from abstain.collect.torch_model import TorchModel
from abstain.extras import require
from abstain.names import did_you_mean

MODEL_SPECS = "timm:NAME, onnx:FILE, torch:MODULE:FACTORY, hf:FOLDER, sklearn:FILE.skops or magika"
MODEL_KINDS = ("timm", "onnx", "torch", "hf", "sklearn", "magika")


def model_from(
    spec: str, /, *, checkpoint: str | None = None, device: str = "cpu", class_names: Sequence[str] | None = None
) -> Model:
    """The model that a spec names; ``checkpoint`` gives the weights of a timm or torch one."""
    kind, _, rest = spec.partition(":")
    if kind == "magika" and not rest:
        return magika_model()
    if kind == "timm" and rest:
        return timm_model(rest, checkpoint=checkpoint, device=device, class_names=class_names)
    if kind == "onnx" and rest:
        return OnnxModel(_existing(rest), class_names=class_names)
    if kind == "hf" and rest:
        return hf_model(rest, device=device)
    if kind == "sklearn" and rest:
        return SklearnModel(_load_skops(_existing(rest)))
    if kind == "torch" and rest.count(":") == 1:
        return _torch(rest, checkpoint, device, class_names)
    hint = did_you_mean(kind, set(MODEL_KINDS) - {kind}, otherwise="")
    raise ValueError(f"`model` must be one of {MODEL_SPECS}, got {spec!r}. {hint}".rstrip())


def data_from(place: str, /, *, model: str, unknown: bool = False) -> list[Data]:
    """The data at a place: a folder of images or a saved Hugging Face dataset, a table, or arrays in an .npz file.

    For magika it is a folder of files, labelled by their endings, with a second set of types it does not know.
    """
    path = Path(place)
    if not path.exists():
        raise FileNotFoundError(f"`data` must exist, got {place}.")
    if model == "magika":
        known, strange = files_by_ending([path])
        return [known, strange] if len(strange) else [known]
    if path.suffix == ".npz":
        return [_arrays(path)]
    if path.is_file():
        return [table(path)]
    if (path / "dataset_info.json").exists():
        return [hf_dataset(path)]
    return [image_folder(path, unknown=unknown)]


def _arrays(path: Path) -> Data:
    with np.load(path, allow_pickle=False) as arrays:
        if "inputs" not in arrays.files:
            raise ValueError(f"`{path}` must hold an array named inputs, got {', '.join(arrays.files)}.")
        labels = arrays["labels"] if "labels" in arrays.files else None
        return Data(arrays["inputs"], labels=labels, domain=path.stem)


def _torch(rest: str, checkpoint: str | None, device: str, class_names: Sequence[str] | None) -> Model:
    module_name, _, factory_name = rest.partition(":")
    factory = getattr(importlib.import_module(module_name), factory_name, None)
    if factory is None:
        raise ValueError(f"`model` must name a function of {module_name}, got {factory_name!r}.")
    made = factory()
    if isinstance(made, Model):
        return made
    if checkpoint is not None:
        made.load_state_dict(load_weights(checkpoint))
    return TorchModel(made, device=device, class_names=class_names)


def _load_skops(file: Path) -> Any:
    """An estimator in the skops format, refused if it holds anything beyond what skops knows to be safe."""
    skops = require("skops.io", extra="sklearn", feature="Reading scikit-learn models")
    if unsafe := skops.get_untrusted_types(file=file):
        raise ValueError(f"`{file}` must hold known types only, got {', '.join(unsafe)}.")
    return skops.load(file, trusted=[])


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise FileNotFoundError(f"`model` must be a file, got {name}.")
    return Path(name)
