"""Models and data by a short name, as the command takes them."""

import difflib
import importlib
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from abstain.collect.data import Data
from abstain.collect.hf_dataset import hf_dataset
from abstain.collect.hf_model import hf_model
from abstain.collect.image_folder import image_folder
from abstain.collect.magika_model import files_by_ending, magika_model
from abstain.collect.model import Model, Prepare
from abstain.collect.onnx_model import OnnxModel
from abstain.collect.sklearn_model import SklearnModel
from abstain.collect.table import table
from abstain.collect.timm_model import load_into, timm_model
from abstain.collect.torch_model import TorchModel, tensors
from abstain.extras import pip_line, require
from abstain.foreign import foreign
from abstain.names import did_you_mean
from abstain.outputs.arrays import read_npz

MODEL_SPECS = "timm:NAME, onnx:FILE, torch:MODULE:NAME, hf:FOLDER, sklearn:FILE.skops or magika"
MODEL_KINDS = ("timm", "onnx", "torch", "hf", "sklearn", "magika")


def model_from(
    spec: str,
    /,
    *,
    checkpoint: str | None = None,
    device: str = "cpu",
    class_names: Sequence[str] | None = None,
    prepare: Prepare | None = None,
    amp: bool = False,
) -> Model:
    """The model that a spec names; ``checkpoint`` gives the weights of a timm or torch one.

    ``prepare`` makes an array of a list of inputs for an ONNX graph or a module of PyTorch, which bring no preparation
    of their own.
    """
    kind, _, rest = spec.partition(":")
    if amp and kind not in ("timm", "torch", "hf"):
        raise ValueError(f"`amp` must be left out for a model that PyTorch does not run, got it with {spec!r}.")
    if kind == "magika" and not rest:
        return magika_model()
    if kind == "timm" and rest:
        return timm_model(rest, checkpoint=checkpoint, device=device, class_names=class_names, amp=amp)
    if kind == "onnx" and rest:
        return OnnxModel(_existing(rest), class_names=class_names, prepare=prepare or np.stack, device=device)
    if kind == "hf" and rest:
        return hf_model(rest, device=device, amp=amp)
    if kind == "sklearn" and rest:
        return SklearnModel(_load_skops(_existing(rest)))
    if kind == "torch" and rest.count(":") == 1:
        made = _torch_module(rest, checkpoint)
        if isinstance(made, Model):
            return made
        chosen = prepare and tensors(prepare)
        return TorchModel(made, device=device, class_names=class_names, prepare=chosen, amp=amp)
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
    arrays = read_npz(path)
    if "inputs" not in arrays:
        raise ValueError(f"`{path}` must hold an array named inputs, got {', '.join(arrays)}.")
    return Data(arrays["inputs"], labels=arrays.get("labels"), domain=path.stem)


def _torch_module(rest: str, checkpoint: str | None) -> Any:
    """The module, or a `Model` of the user's own, that MODULE:NAME names."""
    module_name, _, name = rest.partition(":")
    with _current_folder():
        made = _made(_attribute(module_name, name), name)
    if checkpoint is not None and not isinstance(made, Model):
        load_into(made, checkpoint)
    return made


@contextmanager
def _current_folder() -> Iterator[None]:
    """Inside the context, modules that are nowhere else can be imported from the current folder."""
    here = os.getcwd()
    if {here, ""} & set(sys.path):
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _attribute(module_name: str, name: str) -> Any:
    known = module_name in sys.modules
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and f"{module_name}.".startswith(f"{error.name}.")
        why = "none of that name here or installed" if missing else f"{type(error).__name__}: {error}"
        lacks_torch = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        hint = f" Install it with: {pip_line('torch')}" if lacks_torch else ""
        raise ValueError(
            f"`model` must name a module that can be imported, got {module_name!r}: {why}.{hint}"
        ) from error
    is_here = _is_of_current_folder(module_name.partition(".")[0])
    if not hasattr(module, name):
        near = difflib.get_close_matches(name, dir(module), n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        if not is_here and Path(f"{module_name}.py").exists():
            hint = f" The installed module comes before {module_name}.py of the current folder: rename the file."
        raise ValueError(f"`model` must name something of {module_name}, got {name!r}.{hint}")
    if is_here and not known:
        print(f"abstain: the module {module_name} is taken from the current folder.", file=sys.stderr)
    return getattr(module, name)


def _is_of_current_folder(name: str) -> bool:
    """Whether a module or package without parents lies in the current folder itself."""
    spec = getattr(sys.modules[name], "__spec__", None)
    found = (spec and (spec.submodule_search_locations or [spec.origin])) or []
    return any(Path(place or os.devnull).parent == Path.cwd() for place in found)


def _made(found: Any, name: str) -> Any:
    """The module, or what a function or class without arguments makes."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    kinds = (Model, torch.nn.Module)
    if callable(found) and not isinstance(found, kinds):
        try:
            inspect.signature(found).bind()
        except TypeError as error:
            raise TypeError(f"`model` must be made without arguments, got {name!r}: {error}.") from None
        with foreign(f"`model` must be made without an error, here {name!r}"):
            found = found()
    if not isinstance(found, kinds):
        raise TypeError(f"`model` must be or make a torch.nn.Module, got {type(found).__name__} from {name!r}.")
    return found


def _load_skops(file: Path) -> Any:
    """An estimator in the skops format, refused if it holds anything beyond what skops knows to be safe."""
    skops = require("skops.io", extra="sklearn", feature="Reading scikit-learn models")
    with foreign(f"`{file}` must be an estimator written by skops"):
        unsafe = skops.get_untrusted_types(file=file)
    if unsafe:
        raise ValueError(f"`{file}` must hold known types only, got {', '.join(unsafe)}.")
    with foreign(f"`{file}` must be an estimator written by skops"):
        return skops.load(file, trusted=[])


def _existing(name: str) -> Path:
    if not Path(name).is_file():
        raise FileNotFoundError(f"`model` must be a file, got {name}.")
    return Path(name)
