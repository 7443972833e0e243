"""Samples as `collect` sees them: inputs one by one, and what is known of each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from abstain.fingerprint import digest, probed


class OtherInputsError(ValueError):
    """Inputs that were read before came out differently."""


class Inputs(ABC):
    """A sequence of inputs, read when asked for; ``in_order`` where jumping among them reads all between."""

    in_order: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def __getitem__(self, row: int, /) -> Any:
        """One input; any error it raises is that sample's failure."""

    def fingerprint(self) -> str:
        """A digest that is another one for other inputs; by default of a few of them."""
        return probed(self, len(self))


@final
@dataclass(frozen=True)
class Data:
    """Inputs with labels, ids, domain and shift, one per sample.

    ``labels`` are class numbers or names; names are matched to the model's classes when collecting. A ``transform``
    gets the input and its row, so that a random one can be seeded by the row and be the same however a run is cut.
    """

    inputs: Inputs | Sequence[Any] | NDArray[Any]
    labels: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    domain: str | NDArray[np.str_] = "clean"
    shift: str = "none"
    transform: Callable[[Any, int], Any] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if hasattr(self.inputs, "columns") and hasattr(self.inputs, "to_numpy"):  # a data frame: a row is a sample
            object.__setattr__(self, "inputs", self.inputs.to_numpy())
        for name in ("labels", "ids"):
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, _plain_names(np.asarray(values)))

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, row: int) -> Any:
        value = self.inputs[row]
        return value if self.transform is None else self.transform(value, row)

    def shifted(self, transform: Callable[[Any, int], Any], *, domain: str, shift: str = "covariate") -> Self:
        """The same samples seen through a corruption."""
        return replace(self, transform=transform, domain=domain, shift=shift)

    def select(self, rows: NDArray[np.int64], /) -> Self:
        """Some of the samples."""
        return replace(
            self,
            inputs=_Selected(self.inputs, rows),
            labels=None if self.labels is None else self.labels[rows],
            ids=(np.arange(len(self)) if self.ids is None else self.ids)[rows],
        )

    def fingerprint(self) -> dict[str, str]:
        """Digests of all that a result depends on, by name: a run goes on only if each is the same.

        Arrays and lists count by their contents, files by name, size and time of change, and a transform by its code,
        what it has caught, such as a seed, and what it makes of a few inputs.
        """
        return {
            "inputs": _contents(self.inputs),
            "transform": "none" if self.transform is None else digest(self.transform, probed(self, len(self))),
            "labels": digest(self.labels),
            "ids": digest(self.ids),
            "domain": digest(self.domain),
            "shift": self.shift,
        }


def _plain_names(values: NDArray[Any]) -> NDArray[Any]:
    """Texts as such, where a column of a data frame has them as objects."""
    is_text = values.dtype.kind == "O" and all(isinstance(value, str) for value in values.flat)
    return values.astype(np.str_) if is_text else values


@final
@dataclass(frozen=True)
class _Selected(Inputs):
    inputs: Inputs | Sequence[Any] | NDArray[Any]
    rows: NDArray[np.int64]

    @property
    def in_order(self) -> bool:  # type: ignore[override]
        """As that which they are chosen from."""
        return getattr(self.inputs, "in_order", False)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int, /) -> Any:
        return self.inputs[int(self.rows[row])]

    def fingerprint(self) -> str:
        """Of the inputs and the choice."""
        return digest(_contents(self.inputs), self.rows)


def _contents(inputs: Inputs | Sequence[Any] | NDArray[Any]) -> str:
    if isinstance(inputs, Inputs):
        return inputs.fingerprint()
    if isinstance(inputs, np.ndarray | list | tuple):
        return digest(inputs)
    return probed(inputs, len(inputs))
