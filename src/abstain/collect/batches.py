"""Any iterable of batches, such as a data loader."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

import numpy as np

from abstain.collect.data import Data, Inputs
from abstain.collect.fingerprint import digest
from abstain.collect.model import as_numpy


@final
class BatchedInputs(Inputs):
    """Inputs that only come in order: reading back starts the iterable again."""

    def __init__(self, make: Callable[[], Iterable[Any]], n: int, contents: str) -> None:
        self.make, self.n, self.contents = make, n, contents
        self.batches: Iterator[Any] = iter(())
        self.batch: Any = ()
        self.first = n  # nothing read yet: the first row asked for starts the iterable

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, row: int, /) -> Any:
        if row < self.first:
            self._restart()
        while row >= self.first + len(self.batch):
            self.first += len(self.batch)
            self.batch = _split(next(self.batches))[0]
        return self.batch[row - self.first]

    def fingerprint(self) -> str:
        """Of all inputs, taken when they were read for the labels."""
        return self.contents

    def _restart(self) -> None:
        self.batches = iter(self.make())
        self.first, self.batch = 0, ()


def batches(make: Callable[[], Iterable[Any]], /, *, domain: str = "clean", shift: str = "none") -> Data:
    """Data from a function that starts an iterable of batches: inputs alone, or (inputs, labels).

    It is read twice, once for the labels and once for the inputs, and must give the same batches every time.
    """
    labels: list[Any] = []
    n, contents = 0, ""
    for batch in make():
        inputs, given = _split(batch)
        n, contents = n + len(inputs), digest(contents, inputs)
        if given is not None:
            labels.append(as_numpy(given).astype(np.int64))
    found = np.concatenate(labels) if labels else None
    if found is not None and len(found) != n:
        raise ValueError(f"`make` must give a label for each of the {n} inputs, got {len(found)}.")
    return Data(BatchedInputs(make, n, contents), labels=found, domain=domain, shift=shift)


def _split(batch: Any) -> tuple[Any, Any]:
    return (batch[0], batch[1]) if isinstance(batch, (tuple, list)) and len(batch) == 2 else (batch, None)
