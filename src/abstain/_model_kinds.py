"""The kinds of models that `abstain collect` takes, by name.

A kind is a line here and a module of `abstain.collect` with ``from_spec(rest, options)``. Help, completion and messages
read this table, which imports nothing, so that the help stays fast.
"""

from typing import NamedTuple


class ModelKind(NamedTuple):
    """What follows the name and a colon, the module that makes the model, and whether PyTorch runs it."""

    form: str
    module: str
    runs_torch: bool = False


MODEL_KINDS = {
    "timm": ModelKind("NAME", "timm_model", runs_torch=True),
    "onnx": ModelKind("FILE", "onnx_model"),
    "torch": ModelKind("MODULE:NAME", "torch_module", runs_torch=True),
    "hf": ModelKind("FOLDER", "hf_model", runs_torch=True),
    "sklearn": ModelKind("FILE.skops", "sklearn_model"),
}


def model_specs() -> str:
    """All forms of a spec in a sentence.

    >>> model_specs()
    'timm:NAME, onnx:FILE, torch:MODULE:NAME, hf:FOLDER or sklearn:FILE.skops'
    """
    *first, last = [f"{name}:{kind.form}" for name, kind in MODEL_KINDS.items()]
    return f"{', '.join(first)} or {last}"
