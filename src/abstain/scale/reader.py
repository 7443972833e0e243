"""Rows of Parquet files as `Outputs`, batch by batch, so that memory does not depend on how many there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, final
from warnings import catch_warnings, filterwarnings

import numpy as np
from numpy.typing import NDArray

from abstain._errors import InvalidInputError, RowError
from abstain.outputs import Outputs
from abstain.outputs.table import arguments_in
from abstain.outputs.validation import Nonfinite
from abstain.scale.data import ParquetData, Portion
from abstain.scale.parquet_file import opened, row_batches
from abstain.scores.confidences import ELEMENTS

FIRST = 64  # rows read to learn the columns and types


class RowBatch(NamedTuple):
    """Rows of a portion."""

    outputs: Outputs
    numbers: NDArray[np.int64]
    """(n,) of each row among those of all files."""

    @property
    def samples(self) -> NDArray[Any]:
        """(n,) the original sample of each row: its id, or its number."""
        return self.numbers if self.outputs.ids is None else self.outputs.ids

    def some(self, rows: NDArray[np.bool_], /) -> "RowBatch":
        """Those of a mask."""
        return RowBatch(self.outputs.select(rows), self.numbers[rows])


@final
@dataclass(frozen=True)
class ParquetReader:
    """How portions are read: the form that all must have, what is added, and whether a NaN is refused or rejected."""

    filesystem: Any
    model: str
    """The file whose form all others must have."""
    classes: int
    class_names: tuple[str, ...] | None
    features: int | None
    nonfinite: Nonfinite
    head: dict[str, NDArray[Any]]
    """Weight and bias of the last layer, where they are known."""
    names_rows: bool
    """Whether rows without ids get some: after their file, and their number in it."""

    @classmethod
    def of(
        cls,
        data: ParquetData,
        /,
        *,
        nonfinite: Nonfinite,
        head: dict[str, NDArray[Any]] | None = None,
        names_rows: bool = False,
    ) -> Self:
        """Take the form from the first rows."""
        portion = data.portions()[0]
        arguments = _arguments(portion, 0, next(_frames(data.filesystem, portion, FIRST)))
        wide = {name: values.shape[1] for name, values in arguments.items() if np.ndim(values) == 2}
        return cls(
            filesystem=data.filesystem,
            model=portion.shard.name,
            classes=wide.get("logits", wide.get("probabilities", 0)),
            class_names=arguments.get("class_names"),
            features=wide.get("features"),
            nonfinite=nonfinite,
            head=head or {},
            names_rows=names_rows,
        )

    def first(self, data: ParquetData, /) -> Outputs:
        """A few rows, to learn what all have."""
        portion = data.portions()[0]
        return self._outputs(portion, 0, next(_frames(self.filesystem, portion, FIRST)))

    def batches(self, portion: Portion, /) -> Iterator[RowBatch]:
        """All rows of a portion."""
        size, done = max(1, ELEMENTS // max(1, self.classes + (self.features or 0))), 0
        for frame in _frames(self.filesystem, portion, size):
            first = portion.first + done
            yield RowBatch(self._outputs(portion, done, frame), np.arange(first, first + len(frame)))
            done += len(frame)
        if done != portion.rows:
            raise InvalidInputError(
                f"`{portion.shard.name}` must not change while it is read, got other rows than before. Run again."
            )

    def _outputs(self, portion: Portion, done: int, frame: Any) -> Outputs:
        name, before = portion.shard.name, portion.offset + done
        arguments = _arguments(portion, done, frame)
        self._check_form(name, before + 1, arguments)
        if self.names_rows and "ids" not in arguments:
            prefix = portion.shard.fingerprint[:12]
            arguments["ids"] = [f"{prefix}-{row}" for row in range(before, before + len(frame))]
        try:
            outputs = Outputs(**arguments | self.head, nonfinite="reject")
        except RowError as error:
            raise error.within(name, before) from None
        if self.nonfinite == "error" and not outputs.usable.all():
            raise RowError(
                f"`{name}` must hold finite numbers, got NaN or infinity in row",
                before + 1 + int(np.argmin(outputs.usable)),
                ". Fix or drop such rows, or count them as rejected errors with nonfinite='reject'.",
            )
        return outputs

    def _check_form(self, name: str, row: int, arguments: dict[str, Any]) -> None:
        values = arguments.get("logits", arguments.get("probabilities"))
        have = {"classes": 0 if values is None else values.shape[1]}
        have["features"] = arguments["features"].shape[1] if "features" in arguments else None
        for what, size in have.items():
            if size != getattr(self, what):
                wanted = getattr(self, what)
                raise RowError(f"`{name}` must have {wanted} {what}, as {self.model} has, got {size} in row", row)
        if arguments.get("class_names") != self.class_names:
            raise InvalidInputError(
                f"`{name}` must have the classes of {self.model}, got {arguments.get('class_names')!r:.80}."
            )


@contextmanager
def warned_once() -> Iterator[None]:
    """Inside the context, suppress the warning that logits look like probabilities: the first rows have given it."""
    with catch_warnings():
        filterwarnings("ignore", message="`logits` look like probabilities")
        yield


def _frames(filesystem: Any, portion: Portion, size: int) -> Iterator[Any]:
    shard = portion.shard
    with opened(filesystem, shard.path, shard.name) as file:
        yield from row_batches(file, shard.name, groups=portion.groups, columns=shard.columns, size=size)


def _arguments(portion: Portion, done: int, frame: Any) -> dict[str, Any]:
    try:
        return arguments_in(
            portion.shard.name, {name: frame[name] for name in frame.columns}, group=portion.shard.group
        )
    except RowError as error:
        raise error.later(portion.offset + done) from None
