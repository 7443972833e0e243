"""Hugging Face datasets saved on disk."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, final

import numpy as np

from abstain._errors import InvalidInputError, foreign
from abstain._extras import require
from abstain._io.fingerprint import digest, probed
from abstain.collect.data import Data, SampleInputs


@final
@dataclass(frozen=True, eq=False)
class DatasetColumn(SampleInputs):
    """A column of a dataset, read on access."""

    dataset: Any
    name: str

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, row: int, /) -> Any:
        value = self.dataset[row][self.name]
        return value.convert("RGB") if hasattr(value, "convert") else value

    def fingerprint(self) -> str:
        """The fingerprint of the dataset's own library, and a few inputs."""
        return digest(getattr(self.dataset, "_fingerprint", ""), self.name, probed(self, len(self)))


def hf_dataset(folder: str | PathLike[str], /, *, inputs: str | None = None, labels: str = "label") -> Data:
    """A Hugging Face dataset written by ``save_to_disk``.

    Parameters
    ----------
    folder : path
        That of a single split.
    inputs : str, optional
        The column of inputs; by default text, image or img.
    labels : str
        The column of labels, whose feature may have class names; the data have no labels where it is missing.

    Returns
    -------
    Data
        Read sample by sample.
    """
    datasets = require("datasets", extra="hf", feature="Reading Hugging Face datasets")
    with foreign(f"`{folder}` must be a dataset written by save_to_disk"):
        dataset = datasets.load_from_disk(str(folder))
    if isinstance(dataset, dict):
        raise InvalidInputError(
            f"`folder` must hold one split, got {', '.join(dataset)}. Give the folder of one of them."
        )
    inputs = inputs or next((name for name in ("text", "image", "img") if name in dataset.column_names), None)
    if inputs is None or inputs not in dataset.column_names:
        raise InvalidInputError(
            f"`inputs` must name a column, got {inputs!r} for columns {', '.join(dataset.column_names)}."
        )
    if labels not in dataset.column_names:
        return Data(DatasetColumn(dataset, inputs))
    values, names = np.asarray(dataset[labels]), getattr(dataset.features[labels], "names", None)
    if names is not None:
        values = np.array([names[k] if k >= 0 else "" for k in values])
    return Data(DatasetColumn(dataset, inputs), labels=values)
