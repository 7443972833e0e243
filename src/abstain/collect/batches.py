"""Any iterable of batches, such as a data loader."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, final

import numpy as np

from abstain._errors import ChangedInputsError, InvalidInputError
from abstain._io.fingerprint import digest
from abstain.collect.data import Data, SampleInputs, as_labels

Split = Callable[[Any], tuple[Any, Any]]


@final
class BatchedInputs(SampleInputs):
    """SampleInputs that only come in order: going back starts the iterable again, which must give the same batches."""

    in_order = True

    def __init__(self, make: Callable[[], Iterable[Any]], n: int, digests: list[str], split: Split) -> None:
        self.make, self.n, self.digests, self.split = make, n, digests, split
        self.left: Iterator[Any] = iter(())
        self.next = n  # nothing read yet: the first access starts the iterable

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, row: int, /) -> Any:
        if row < self.next:
            self.left, self.next = self._read(), 0
        skipped, self.next = row - self.next, row + 1
        for value in islice(self.left, skipped, None):
            return value
        raise _changed("no more of them")  # as after an error of the iterable

    def fingerprint(self) -> str:
        """A digest of all inputs, made when they were read for the labels."""
        return digest(self.digests)

    def _read(self) -> Iterator[Any]:
        """The inputs from the first on, each batch checked to be what it was."""
        given = iter(self.make())
        for number, before in enumerate(self.digests, start=1):
            inputs = self.split(next(given, ()))[0]
            if digest(inputs) != before:
                raise _changed(f"another batch {number}")
            yield from rows_of(inputs)


def batches(
    make: Callable[[], Iterable[Any]], /, *, domain: str = "clean", shift: str = "none", split: Split | None = None
) -> Data:
    """Data from an iterable of batches, such as a data loader.

    It is read twice, once for the labels and once for the inputs, and must give the same batches every time.

    Parameters
    ----------
    make : callable
        A function that starts the iterable; each batch is inputs alone, or (inputs, labels).
    domain, shift : str
        As of `Data`.
    split : function, optional
        Makes (inputs, labels or None) of a batch of another form.

    Returns
    -------
    Data
        As `collect` takes them.
    """
    split = split or _pair
    labels: list[Any] = []
    digests: list[str] = []
    n = 0
    for batch in make():
        inputs, given = split(batch)
        n += len(rows_of(inputs))
        digests.append(digest(inputs))
        if given is not None:
            labels.append(as_labels(given))
    joined = np.concatenate(labels) if labels else None
    if joined is not None and len(joined) != n:
        raise InvalidInputError(f"`data` must give a label for each of the {n} inputs, got {len(joined)}.")
    return Data(BatchedInputs(make, n, digests, split), labels=joined, domain=domain, shift=shift)


def _changed(got: str) -> ChangedInputsError:
    return ChangedInputsError(
        f"`data` must give the same batches every time, got {got} when read again. Turn off shuffling and random "
        "transforms."
    )


def rows_of(inputs: Any, /) -> list[Any]:
    """The inputs of a batch as a list; a dictionary of arrays becomes a dictionary per input."""
    if not isinstance(inputs, dict):
        return list(inputs)
    lengths = {name: len(values) for name, values in inputs.items()}
    if len(set(lengths.values())) != 1:
        raise InvalidInputError(f"`data` must give inputs of one length in a batch, got {lengths}.")
    return [dict(zip(inputs, values, strict=True)) for values in zip(*inputs.values(), strict=True)]


def _pair(batch: Any) -> tuple[Any, Any]:
    return (batch[0], batch[1]) if isinstance(batch, (tuple, list)) and len(batch) == 2 else (batch, None)
