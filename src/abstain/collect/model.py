"""The contract of a model: from a batch of inputs to logits and the features of its last layer."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._errors import foreign
from abstain._io.fingerprint import digest
from abstain.outputs.named_labels import ClassNames

ModelOutput = tuple[NDArray[Any], NDArray[Any] | None]
"""Logits (b, K), and features (b, d) or None where the model exposes none."""
Prepare = Callable[[Sequence[Any]], Any]
"""From a list of inputs to what a module or a graph takes."""


class Model(ABC):
    """A classifier as `collect` sees it: one forward pass per batch.

    A subclass has a name and ``run``. What is slow and needs no model, such as decoding, goes into ``prepare``, which
    may run in worker processes.

    Attributes
    ----------
    name : str
        Different for every model: a run resumes only with the model that began it.
    class_names : sequence or None
        Names of the classes; integer names, such as scikit-learn's ``classes_``, match integer labels by value.
    prepare : function
        From a list of inputs to what ``run`` takes: it decodes, resizes or stacks them.
    """

    name: str
    class_names: ClassNames | None = None
    prepare: Prepare = list

    def __call__(self, inputs: Sequence[Any], /) -> ModelOutput:
        """Prepare the inputs and run the model."""
        return self.run(self.prepare(inputs))

    @abstractmethod
    def run(self, prepared: Any, /) -> ModelOutput:
        """Logits and features of prepared inputs."""

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight (K, d) and bias (K,) of the last layer, once a batch has been seen."""
        return None, None


@final
@dataclass(frozen=True)
class ModelOptions:
    """Options of a model made from a spec; each kind ignores those that it has no use for."""

    checkpoint: str | None = None
    """Weights of a timm or torch model."""
    device: str = "cpu"
    class_names: Sequence[str] | None = None
    prepare: Prepare | None = None
    """Makes an array of a list of inputs, for an ONNX graph or a torch module, which bring no preparation."""
    amp: bool = False
    """Whether PyTorch runs in half precision."""


@final
class CallableModel(Model):
    """Any function from a list of inputs to logits, or to (logits, features).

    A run is resumed only with the model of the same name.

    Parameters
    ----------
    function : function
        From a list of inputs to logits (b, K), or to a pair of logits and features (b, d).
    name : str, optional
        Change it with the weights. By default a digest of the function's code, of what its closure holds and of the
        globals that it reads.
    """

    def __init__(self, function: Callable[[Sequence[Any]], Any], *, name: str | None = None) -> None:
        self.function = function
        self.name = f"callable-{digest(function)}" if name is None else name

    def run(self, prepared: Any, /) -> ModelOutput:
        """Call the function."""
        result = self.function(prepared)
        logits, features = result if isinstance(result, tuple) else (result, None)
        return as_numpy(logits), None if features is None else as_numpy(features)


@final
class NamedModel(Model):
    """A model from a spec: its failures are errors about the argument `model`."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.class_names = model, model.name, model.class_names

    def prepare(self, inputs: Sequence[Any]) -> Any:
        """What the model makes of the inputs, or an error with the reason."""
        with foreign(f"`model` must run on the data, here {len(inputs)} samples"):
            return self.model.prepare(inputs)

    def run(self, prepared: Any, /) -> ModelOutput:
        """What the model returns, or an error with the reason."""
        with foreign("`model` must run on the data"):
            return self.model.run(prepared)

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """That of the model."""
        return self.model.head()


def as_numpy(array: Any) -> NDArray[Any]:
    """A NumPy array from a tensor on any device."""
    if hasattr(array, "detach"):
        array = array.detach().float().cpu().numpy()
    return np.asarray(array)
