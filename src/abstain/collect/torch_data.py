"""Datasets and loaders of PyTorch, as they are."""

import sys
from typing import Any, final

import numpy as np

from abstain.collect.batches import batches
from abstain.collect.data import Data, Inputs, OtherInputsError
from abstain.collect.labels import as_labels
from abstain.fingerprint import digest

LABELS = ("labels", "label", "targets", "target", "y")


def as_data(data: Data | Any, /) -> Data:
    """The data: `Data`, a ``DataLoader``, or a ``Dataset`` with a length.

    Each item is an input alone, a tuple (input, label, …) or a dictionary with the label under labels, label, targets,
    target or y. All are read once for labels and contents, and again, row by row, for the model: what comes out must be
    the same, so shuffling and random transforms are refused.
    """
    if isinstance(data, Data):
        return data
    torch_data = sys.modules.get("torch.utils.data")  # who has a loader has imported it
    if torch_data is not None and isinstance(data, torch_data.DataLoader):
        if data.batch_size is None:  # items as the data set gives them: one by one, or batches of its own
            raise ValueError("`data` must be a DataLoader that makes batches, got one with batch_size=None. Set it.")
        return batches(lambda: data, split=split_item)
    plain = isinstance(data, str | bytes | dict | list | tuple) or hasattr(data, "__array__")
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not plain:
        return _dataset(data)
    hint = "Wrap it: Data(inputs, labels=labels)." if plain else "Put it into a DataLoader."
    raise TypeError(f"`data` must be Data, a DataLoader or a Dataset with a length, got {type(data).__name__}. {hint}")


def split_item(item: Any, /) -> tuple[Any, Any]:
    """The input and the label of an item or a batch; None where there is no label."""
    if isinstance(item, dict) or hasattr(item, "keys"):
        name = next((name for name in LABELS if name in item.keys()), None)  # noqa: SIM118
        inputs = {key: item[key] for key in item.keys() if key != name}  # noqa: SIM118
        return inputs, None if name is None else item[name]
    if isinstance(item, tuple | list) and len(item) >= 2:
        return item[0], item[1]
    return (item[0] if isinstance(item, tuple | list) and len(item) == 1 else item), None


@final
class Items(Inputs):
    """The inputs of a data set, each checked to be what it was when its label was read."""

    def __init__(self, dataset: Any, digests: list[str]) -> None:
        self.dataset, self.digests = dataset, digests

    def __len__(self) -> int:
        return len(self.digests)

    def __getitem__(self, row: int, /) -> Any:
        inputs, failure = _item(self.dataset, row)[::2]
        if digest(failure or inputs) != self.digests[row]:
            raise OtherInputsError(
                f"`data` must give the same items every time, got another input in row {row} when read again. Turn off "
                "random transforms."
            )
        if failure is not None:
            raise failure
        return inputs

    def fingerprint(self) -> str:
        """Of all inputs, taken when they were read for the labels."""
        return digest(self.digests)


def _dataset(dataset: Any) -> Data:
    digests, labels, failed = [], {}, 0
    for row in range(len(dataset)):
        inputs, label, failure = _item(dataset, row)
        digests.append(digest(failure or inputs))
        failed += failure is not None
        if label is not None:
            labels[row] = label
    if labels and len(labels) + failed != len(digests):
        raise ValueError(f"`data` must give a label for each of the {len(digests)} inputs, got {len(labels)}.")
    found = None
    if labels:
        known = as_labels(list(labels.values()))
        found = np.zeros(len(digests), dtype=known.dtype)  # a row that cannot be read is left out, whatever its label
        found[list(labels)] = known
    return Data(Items(dataset, digests), labels=found)


def _item(dataset: Any, row: int) -> tuple[Any, Any, Exception | None]:
    """Input, label and, if it cannot be read, why."""
    try:
        return (*split_item(dataset[row]), None)
    except Exception as error:
        return None, None, error
