"""A classifier as `collect` sees it: a batch of inputs in, logits and the features of its last layer out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain.collect.labels import ClassNames
from abstain.foreign import foreign

Batch = tuple[NDArray[Any], NDArray[Any] | None]
Prepare = Callable[[Sequence[Any]], Any]
"""From a list of inputs to what a module or a graph takes."""


class Model(ABC):
    """One forward pass a batch. ``name`` tells this model from others when a run goes on.

    ``prepare`` and ``run`` are a call in two steps: the first, which decodes, resizes or stacks, may be done in worker
    processes while the second runs.
    """

    name: str
    class_names: ClassNames | None = None
    """Integers other than 0 to K − 1, as scikit-learn's ``classes_`` may be, are what integer labels name."""
    prepare: Prepare = list

    @abstractmethod
    def __call__(self, inputs: Sequence[Any], /) -> Batch:
        """Logits (b, K) and features (b, d), or None where the model shows none."""

    def run(self, prepared: Any, /) -> Batch:
        """The same of what ``prepare`` made of the inputs."""
        return self(prepared)

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """Weight (K, d) and bias (K,) of the last layer, once a batch has been seen."""
        return None, None


@final
class CallableModel(Model):
    """Any function from a list of inputs to logits, or to (logits, features)."""

    def __init__(self, function: Callable[[Sequence[Any]], Any], *, name: str = "callable") -> None:
        self.function = function
        self.name = name

    def __call__(self, inputs: Sequence[Any], /) -> Batch:
        """Call the function."""
        found = self.function(inputs)
        logits, features = found if isinstance(found, tuple) else (found, None)
        return as_numpy(logits), None if features is None else as_numpy(features)


@final
class NamedModel(Model):
    """A model that was named on a command line: its failures are told as its own."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.class_names = model, model.name, model.class_names
        self.prepare = self._prepare

    def __call__(self, inputs: Sequence[Any], /) -> Batch:
        """What the model gives, or a ValueError with the reason."""
        return self.run(self.prepare(inputs))

    def run(self, prepared: Any, /) -> Batch:
        """The same of inputs that are prepared."""
        with foreign("`model` must run on the data"):
            return self.model.run(prepared)

    def _prepare(self, inputs: Sequence[Any]) -> Any:
        with foreign(f"`model` must run on the data, here {len(inputs)} samples"):
            return preparation(self.model)(inputs)

    def head(self) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
        """That of the model."""
        return self.model.head()


def preparation(model: Model, /) -> Prepare:
    """What is done before ``run``; nothing for a model that has only a call, which may prepare inside."""
    return list if type(model).run is Model.run else model.prepare


def as_numpy(array: Any) -> NDArray[Any]:
    """A NumPy array from a tensor on any device."""
    if hasattr(array, "detach"):
        array = array.detach().float().cpu().numpy()
    return np.asarray(array)
