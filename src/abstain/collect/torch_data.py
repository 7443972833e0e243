"""PyTorch datasets and loaders as `Data`."""

import sys
from functools import partial
from typing import Any, final

import numpy as np

from abstain._errors import ChangedInputsError, InvalidInputError, InvalidTypeError
from abstain._io.fingerprint import digest
from abstain.collect.batches import batches
from abstain.collect.data import Data, SampleInputs, as_labels, plain_label
from abstain.collect.reader import in_workers

BLOCK = 64  # items that a worker reads at a time
LABELS = ("labels", "label", "targets", "target", "y")


def as_data(data: Data | Any, /, *, workers: int = 0) -> Data:
    """The data: `Data`, a ``DataLoader``, or a ``Dataset`` with a length, which ``workers`` read.

    Each item is an input alone, a tuple (input, label, …) or a dictionary with the label under labels, label, targets,
    target or y. All are read once for labels and contents, and again, row by row, for the model: what comes out must be
    the same, so shuffling and random transforms are refused.
    """
    if isinstance(data, Data):
        return data
    torch_data = sys.modules.get("torch.utils.data")  # a loader can only come from there
    if torch_data is not None and isinstance(data, torch_data.DataLoader):
        if data.batch_size is None:  # items as the data set gives them: one by one, or batches of its own
            raise InvalidInputError(
                "`data` must be a DataLoader that makes batches, got one with batch_size=None. Set it."
            )
        return batches(lambda: data, split=split_item)
    plain = isinstance(data, str | bytes | dict | list | tuple) or hasattr(data, "__array__")
    if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not plain:
        return _dataset(data, workers)
    hint = "Wrap it: Data(inputs, labels=labels)." if plain else "Put it into a DataLoader."
    raise InvalidTypeError(
        f"`data` must be Data, a DataLoader or a Dataset with a length, got {type(data).__name__}. {hint}"
    )


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
class Items(SampleInputs):
    """The inputs of a data set, each checked to be what it was when its label was read."""

    def __init__(self, dataset: Any, digests: list[str]) -> None:
        self.dataset, self.digests = dataset, digests

    def __len__(self) -> int:
        return len(self.digests)

    def __getitem__(self, row: int, /) -> Any:
        inputs, failure = _item(self.dataset, row)[::2]
        if digest(failure or inputs) != self.digests[row]:
            raise ChangedInputsError(
                f"`data` must give the same items every time, got another input in row {row} when read again. Turn off "
                "random transforms."
            )
        if failure is not None:
            raise failure
        return inputs

    def fingerprint(self) -> str:
        """A digest of all inputs, made when they were read for the labels."""
        return digest(self.digests)


def _dataset(dataset: Any, workers: int) -> Data:
    digests: list[str] = []
    labels: dict[int, Any] = {}
    failed = 0
    blocks = [range(len(dataset))[first : first + BLOCK] for first in range(0, len(dataset), BLOCK)]
    for block in in_workers(partial(_described, dataset), blocks, workers):
        for contents, label, is_failure in block:
            if label is not None:
                labels[len(digests)] = label
            digests.append(contents)
            failed += is_failure
    if labels and len(labels) + failed != len(digests):
        raise InvalidInputError(f"`data` must give a label for each of the {len(digests)} inputs, got {len(labels)}.")
    if not labels:
        return Data(Items(dataset, digests))
    known = as_labels(list(labels.values()))
    values = np.zeros(len(digests), dtype=known.dtype)  # a row that cannot be read is left out, whatever its label
    values[list(labels)] = known
    return Data(Items(dataset, digests), labels=values)


def _described(dataset: Any, rows: range) -> list[tuple[str, Any, bool]]:
    """Digest of the input, label, and whether it cannot be read, of each row."""
    items = (_item(dataset, row) for row in rows)
    return [(digest(failure or inputs), plain_label(label), failure is not None) for inputs, label, failure in items]


def _item(dataset: Any, row: int) -> tuple[Any, Any, Exception | None]:
    """Input, label and, if it cannot be read, why."""
    try:
        return (*split_item(dataset[row]), None)
    except Exception as error:
        return None, None, error
