"""Hugging Face datasets saved on disk."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, final

import numpy as np

from abstain.collect.data import Data, Inputs
from abstain.extras import require
from abstain.fingerprint import digest, probed
from abstain.foreign import foreign


@final
@dataclass(frozen=True, eq=False)
class Column(Inputs):
    """One column of a dataset, read when asked for."""

    dataset: Any
    name: str

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, row: int, /) -> Any:
        value = self.dataset[row][self.name]
        return value.convert("RGB") if hasattr(value, "convert") else value

    def fingerprint(self) -> str:
        """The dataset's own, which its library keeps, and a few inputs."""
        return digest(getattr(self.dataset, "_fingerprint", ""), self.name, probed(self, len(self)))


def hf_dataset(folder: str | PathLike[str], /, *, inputs: str | None = None, labels: str = "label") -> Data:
    """A dataset written by ``save_to_disk``; class names come from its label feature where it has names."""
    datasets = require("datasets", extra="hf", feature="Reading Hugging Face datasets")
    with foreign(f"`{folder}` must be a dataset written by save_to_disk"):
        dataset = datasets.load_from_disk(str(folder))
    if isinstance(dataset, dict):
        raise ValueError(f"`folder` must hold one split, got {', '.join(dataset)}. Give the folder of one of them.")
    inputs = inputs or next((name for name in ("text", "image", "img") if name in dataset.column_names), None)
    if inputs is None or inputs not in dataset.column_names:
        raise ValueError(f"`inputs` must name a column, got {inputs!r} for columns {', '.join(dataset.column_names)}.")
    found = None
    if labels in dataset.column_names:
        found = np.asarray(dataset[labels])
        names = getattr(dataset.features[labels], "names", None)
        if names is not None:
            found = np.array([names[k] if k >= 0 else "" for k in found])
    return Data(Column(dataset, inputs), labels=found)
