"""Samples as `collect` sees them: inputs one by one, and what is known of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arguments import from_torch
from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain._io.fingerprint import digest, probed


class SampleInputs(ABC):
    """A sequence of inputs, read on access.

    Attributes
    ----------
    in_order : bool
        Whether going back means reading from the start.
    """

    in_order: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def __getitem__(self, row: int, /) -> Any:
        """One input; any error it raises is that sample's failure."""

    def fingerprint(self) -> str:
        """A digest that differs for other inputs; by default of a few of them."""
        return probed(self, len(self))


@final
@dataclass(frozen=True)
class Data:
    """SampleInputs with labels, ids, domain and shift, one per sample.

    Parameters
    ----------
    inputs : SampleInputs, list, array or data frame
        `SampleInputs`, a list, an array or a data frame, whose rows are samples.
    labels : (n,) array, optional
        Class numbers, or names, which are matched to the model's classes when collecting.
    ids : (n,) array, optional
        Names of the samples; by default their index.
    domain : str or (n,) array
        A name for all samples, or one for each.
    shift : str
        ``none``, ``covariate`` or ``label``.
    transform : function, optional
        Gets an input and its row, so that a random transform can be seeded by the row and a resumed run is the same.
    """

    inputs: SampleInputs | Sequence[Any] | NDArray[Any]
    labels: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    domain: str | NDArray[np.str_] = "clean"
    shift: str = "none"
    transform: Callable[[Any, int], Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if hasattr(self.inputs, "columns") and hasattr(self.inputs, "to_numpy"):  # a data frame: a row is a sample
            object.__setattr__(self, "inputs", self.inputs.to_numpy())
        if self.labels is not None:
            object.__setattr__(self, "labels", as_labels(self.labels))
        if self.ids is not None:
            object.__setattr__(self, "ids", _plain_names(np.asarray(self.ids)))

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, row: int) -> Any:
        value = self.inputs[row]
        return value if self.transform is None else self.transform(value, row)

    def shifted(self, transform: Callable[[Any, int], Any], *, domain: str, shift: str = "covariate") -> Self:
        """The same samples seen through a corruption."""
        return replace(self, transform=transform, domain=domain, shift=shift)

    def of_unknown_classes(self) -> Self:
        """The same samples, all of classes that the model does not know."""
        return replace(self, labels=None, shift="label")

    def select(self, rows: NDArray[np.int64], /) -> Self:
        """Some of the samples."""
        return replace(
            self,
            inputs=_Selected(self.inputs, rows),
            labels=None if self.labels is None else self.labels[rows],
            ids=self.names[rows],
        )

    @cached_property
    def names(self) -> NDArray[Any]:
        """(n,) the ids, or a digest of all inputs with the row, such as ``3f9a2c41-17``.

        So another file has other ids, the same file the same ones, and corrupted copies those of their originals.
        """
        if self.ids is not None:
            return self.ids
        return np.char.add(f"{digest(self._contents, len(self))[:8]}-", np.arange(len(self)).astype(str))

    @cached_property
    def _contents(self) -> str:
        return _contents(self.inputs)

    def fingerprint(self) -> dict[str, str]:
        """Digests, by name, of all that a result depends on; a run is resumed only if each is the same.

        Arrays and lists count by their contents, files by name, size and modification time, and a transform by its
        code, its closure, such as a seed, and its results for a few inputs.
        """
        return {
            "inputs": self._contents,
            "transform": "none" if self.transform is None else digest(self.transform, probed(self, len(self))),
            "labels": digest(self.labels),
            "ids": digest(self.ids),
            "domain": digest(self.domain),
            "shift": self.shift,
        }


def as_labels(values: Any, /) -> NDArray[Any]:
    """Class numbers or names, one per sample, from an array, a tensor or a list of either."""
    items = list(map(plain_label, values)) if isinstance(values, list | tuple) else plain_label(values)
    labels = _plain_names(np.asarray(items))
    if labels.ndim != 1:
        raise InvalidInputError(f"`labels` must be one class number or name per sample, got shape {labels.shape}.")
    if labels.dtype.kind == "U":
        return labels
    if labels.dtype.kind not in "iub" and not (labels.dtype.kind == "f" and (labels == np.rint(labels)).all()):
        raise InvalidInputError(f"`labels` must be class numbers or names, got {labels.dtype}, such as {labels[0]}.")
    return labels.astype(np.int64)


def plain_label(value: Any, /) -> Any:
    """A label without PyTorch, whose tensors workers would pass in shared memory."""
    return np.asarray(from_torch(value)) if hasattr(value, "detach") else value


def _plain_names(values: NDArray[Any]) -> NDArray[Any]:
    """Strings as such, where a column of a data frame has them as objects."""
    is_text = values.dtype.kind == "O" and all(isinstance(value, str) for value in values.flat)
    return values.astype(np.str_) if is_text else values


@final
@dataclass(frozen=True)
class _Selected(SampleInputs):
    inputs: SampleInputs | Sequence[Any] | NDArray[Any]
    rows: NDArray[np.int64]

    @property
    def in_order(self) -> bool:  # type: ignore[override]
        """That of the inputs they are selected from."""
        return getattr(self.inputs, "in_order", False)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int, /) -> Any:
        return self.inputs[int(self.rows[row])]

    def fingerprint(self) -> str:
        """A digest of the inputs and the selected rows."""
        return digest(_contents(self.inputs), self.rows)


def _contents(inputs: SampleInputs | Sequence[Any] | NDArray[Any]) -> str:
    if isinstance(inputs, SampleInputs):
        return inputs.fingerprint()
    if isinstance(inputs, np.ndarray | list | tuple):
        return digest(inputs)
    return probed(inputs, len(inputs))
