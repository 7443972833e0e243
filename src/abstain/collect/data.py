"""Samples as `collect` sees them: inputs one by one, and what is known of each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray


class Inputs(ABC):
    """A sequence of inputs, read when asked for."""

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def __getitem__(self, row: int, /) -> Any:
        """One input; any error it raises is that sample's failure."""


@final
@dataclass(frozen=True)
class Data:
    """Inputs with labels, ids, domain and shift, one a sample.

    ``labels`` are class numbers or names; names are matched to the model's classes when collecting. A ``transform``
    gets the input and its row, so that a random one can be seeded by the row and be the same however a run is cut.
    """

    inputs: Inputs | Sequence[Any] | NDArray[Any]
    labels: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None
    domain: str | NDArray[np.str_] = "clean"
    shift: str = "none"
    transform: Callable[[Any, int], Any] | None = field(default=None, compare=False)

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

    def fingerprint(self) -> str:
        """A digest of what is known of the samples, to tell data sets apart when a run goes on."""
        digest = sha256(f"{len(self)} {self.shift}".encode())
        for array in (self.labels, self.ids, np.asarray(self.domain)):
            digest.update(b"-" if array is None else np.asarray(array).astype(str).tobytes())
        return digest.hexdigest()[:16]


@final
@dataclass(frozen=True)
class _Selected(Inputs):
    inputs: Inputs | Sequence[Any] | NDArray[Any]
    rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int, /) -> Any:
        return self.inputs[int(self.rows[row])]
