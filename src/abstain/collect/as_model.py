"""What people have, as a `Model`."""

import sys
from collections.abc import Sequence
from typing import Any

from abstain.collect.model import Model
from abstain.collect.sklearn_model import SklearnModel
from abstain.collect.torch_model import TorchModel


def as_model(model: Model | Any, /, *, class_names: Sequence[str] | None = None) -> Model:
    """The model: a `Model`, a ``torch.nn.Module``, which stays on its device and in its mode, or an estimator."""
    if isinstance(model, Model):
        return model
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        return SklearnModel(model)
    torch = sys.modules.get("torch")  # who has a module has imported it
    if torch is None or not isinstance(model, torch.nn.Module):
        kind = type(model).__name__
        hint = " Wrap it: CallableModel(function)." if callable(model) else ""
        raise TypeError(f"`model` must be a Model, a torch.nn.Module or an estimator, got {kind}.{hint}")
    first = next(iter((*model.parameters(), *model.buffers())), None)
    return TorchModel(model, device="cpu" if first is None else str(first.device), class_names=class_names)
