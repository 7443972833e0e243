"""``torch:MODULE:NAME``: a PyTorch module that is an attribute of a Python module."""

import importlib
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from abstain._errors import InvalidInputError, InvalidTypeError, foreign
from abstain._extras import pip_line, require
from abstain._names import did_you_mean
from abstain.collect.model import Model, ModelOptions
from abstain.collect.timm_model import load_into
from abstain.collect.torch_model import TorchModel, tensors


def from_spec(rest: str, options: ModelOptions, /) -> Model:
    """The module, or a `Model` of the user's own, that MODULE:NAME names."""
    module_name, _, name = rest.partition(":")
    with _current_folder():
        made = _made(_attribute(module_name, name), name)
    if isinstance(made, Model):
        return made
    if options.checkpoint is not None:
        load_into(made, options.checkpoint)
    prepare = options.prepare and tensors(options.prepare)
    return TorchModel(made, device=options.device, class_names=options.class_names, prepare=prepare, amp=options.amp)


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
        raise InvalidInputError(
            f"`model` must name a module that can be imported, got {module_name!r}: {why}.{hint}"
        ) from error
    is_here = _is_of_current_folder(module_name.partition(".")[0])
    if not hasattr(module, name):
        hint = did_you_mean(name, dir(module), otherwise="")
        if not is_here and Path(f"{module_name}.py").exists():
            hint = f"The installed module comes before {module_name}.py of the current folder: rename the file."
        raise InvalidInputError(f"`model` must name an attribute of {module_name}, got {name!r}. {hint}".rstrip())
    if is_here and not known:
        print(f"abstain: the module {module_name} is taken from the current folder.", file=sys.stderr)
    return getattr(module, name)


def _is_of_current_folder(name: str) -> bool:
    """Whether a module or package without parents lies in the current folder itself."""
    spec = getattr(sys.modules[name], "__spec__", None)
    locations = (spec and (spec.submodule_search_locations or [spec.origin])) or []
    return any(Path(location or os.devnull).parent == Path.cwd() for location in locations)


def _made(value: Any, name: str) -> Any:
    """The module, or what a function or class without arguments makes."""
    torch = require("torch", extra="torch", feature="Collecting from PyTorch")
    kinds = (Model, torch.nn.Module)
    if callable(value) and not isinstance(value, kinds):
        try:
            inspect.signature(value).bind()
        except (TypeError, ValueError) as error:
            raise InvalidTypeError(f"`model` must be made without arguments, got {name!r}: {error}.") from None
        with foreign(f"`model` must be made without an error, here {name!r}"):
            value = value()
    if not isinstance(value, kinds):
        raise InvalidTypeError(f"`model` must be or make a torch.nn.Module, got {type(value).__name__} from {name!r}.")
    return value
