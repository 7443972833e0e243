"""Several data sets as one: which sample a row is, and what is known of it."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._cached_property import cached_property
from abstain._errors import InvalidInputError
from abstain.collect.data import Data
from abstain.outputs.named_labels import ClassNames, matched_labels

Rows = NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of all parts, one after the other."""

    parts: tuple[Data, ...]

    @cached_property
    def starts(self) -> Rows:
        """The first row of each part, and the number of all."""
        return np.cumsum([0, *(len(part) for part in self.parts)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def __getitem__(self, row: int) -> Any:
        part, local = self._position(row)
        return self.parts[part][local]

    def name(self, row: int) -> str:
        """The id of a row, or its number in its part."""
        part, local = self._position(row)
        ids = self.parts[part].ids
        return str(local if ids is None else ids[local])

    def known(self, rows: Rows, class_names: ClassNames | None) -> dict[str, Any]:
        """Labels, shift, domain and ids of rows, as `Outputs` takes them."""
        labels = self._column([_labels(part, class_names) for part in self.parts], rows)
        shift = np.array([part.shift for part in self.parts])[self._which(rows)]
        return {
            "labels": labels,
            "shift": shift if labels is None else np.where(labels < 0, "label", shift),
            "domain": self._column([np.broadcast_to(part.domain, len(part)) for part in self.parts], rows),
            "ids": self._column([part.names for part in self.parts], rows),
        }

    def _which(self, rows: Any) -> Any:
        return np.searchsorted(self.starts, rows, side="right") - 1

    def _position(self, row: int) -> tuple[int, int]:
        part = int(self._which(row))
        return part, row - int(self.starts[part])

    def _column(self, columns: list[Any], rows: Rows) -> NDArray[Any] | None:
        """One column from those of the parts; strings where their kinds differ; none unless all parts have it."""
        if any(column is None for column in columns):
            return None
        arrays = [np.asarray(column) for column in columns]
        if len({array.dtype.kind for array in arrays}) > 1:
            arrays = [array.astype(str) for array in arrays]
        return np.concatenate(arrays)[rows]


def _labels(part: Data, class_names: ClassNames | None) -> NDArray[np.int64] | None:
    """Class numbers, −1 for a name that is not a class; some of the names must be."""
    if part.shift == "label":
        return np.full(len(part), -1)
    if part.labels is None:
        return None
    if class_names is not None:
        return np.asarray(matched_labels(part.labels, class_names))
    if part.labels.dtype.kind == "U":
        raise InvalidInputError("`labels` must be class numbers, since the model does not name its classes, got names.")
    return part.labels
