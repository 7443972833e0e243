"""The rows of several models, matched by id or by order, so that each row is one sample."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._errors import InvalidInputError, InvalidTypeError
from abstain.outputs import Outputs
from abstain.outputs.outputs import expect_outputs

ABSENT = -1


@final
@dataclass(frozen=True, eq=False)
class MatchedRows:
    """The outputs of each stage on the same samples, in the order of the first stage."""

    names: tuple[str, ...]
    """Of the stages."""
    outputs: tuple[Outputs, ...]
    rows: tuple[Ints, ...]
    """For each stage (n,) the row of its outputs, −1 where it was not run on the sample."""

    @classmethod
    def of(cls, outputs: Sequence[Outputs], names: tuple[str, ...], /) -> Self:
        """Match the rows by id where all stages have ids, else by order; labels must agree."""
        if isinstance(outputs, Outputs) or not isinstance(outputs, Sequence):
            raise InvalidTypeError(
                f"`outputs` must be a list with the outputs of each stage, got {type(outputs).__name__}."
            )
        if len(outputs) != len(names):
            raise InvalidInputError(
                f"`outputs` must have one item for each of the {len(names)} stages ({', '.join(names)}), got "
                f"{len(outputs)}."
            )
        for each in outputs:
            expect_outputs(each)
        first = outputs[0]
        rows = [np.arange(len(first))]
        rows += [_matched(first, other, names[0], name) for other, name in zip(outputs[1:], names[1:], strict=True)]
        matched = cls(tuple(names), tuple(outputs), tuple(rows))
        matched._check_names()
        matched._check_labels()
        return matched

    def __len__(self) -> int:
        return len(self.rows[0])

    @property
    def first(self) -> Outputs:
        """The outputs of the first stage, which has every row."""
        return self.outputs[0]

    def is_present(self, stage: int, /) -> NDArray[np.bool_]:
        """(n,) where the stage was run."""
        return self.rows[stage] != ABSENT

    def check_classes(self, stage: int, n_classes: int, /) -> None:
        """A stage must have as many classes as in calibration."""
        if self.outputs[stage].n_classes != n_classes:
            raise InvalidInputError(
                f"`outputs` at {self.names[stage]} must have {n_classes} classes, as in calibration, got "
                f"{self.outputs[stage].n_classes}. Are the stages in their order?"
            )

    def check_complete(self) -> None:
        """Every stage must have every row, to calibrate on."""
        for name, rows in zip(self.names, self.rows, strict=True):
            if missing := int(np.count_nonzero(rows == ABSENT)):
                raise InvalidInputError(
                    f"`outputs` must have every row at every stage to calibrate on, got {missing:,} of {len(rows):,} "
                    f"missing at {name}. Run it on all calibration rows."
                )

    def select(self, keep: NDArray[np.bool_], /) -> "MatchedRows":
        """Some of the samples."""
        return MatchedRows(self.names, self.outputs, tuple(rows[keep] for rows in self.rows))

    def of_stage(self, stage: int, /) -> Outputs:
        """The rows of a stage where it was run, in the order of the first."""
        rows = self.rows[stage]
        return self.outputs[stage].select(rows[rows != ABSENT])

    @property
    def labels(self) -> Ints | None:
        """(n,) the labels of whichever stage has them for all rows."""
        for outputs, rows in zip(self.outputs, self.rows, strict=True):
            if outputs.labels is not None and (rows != ABSENT).all():
                return outputs.labels[rows]
        return None

    @property
    def is_labelled(self) -> bool:
        """Whether the errors of every stage are known."""
        return all(outputs.is_labelled for outputs in self.outputs) or (
            self.labels is not None and all(outputs.n_classes or outputs.is_labelled for outputs in self.outputs)
        )

    @property
    def losses(self) -> NDArray[np.float64]:
        """(n, K) the loss of each stage's answer, where every stage has every row."""
        return np.column_stack([self._losses(stage) for stage in range(len(self.outputs))])

    def _losses(self, stage: int) -> NDArray[np.float64]:
        outputs, rows = self.outputs[stage], self.rows[stage]
        if outputs.is_labelled:
            return outputs.losses[rows]
        labels = self.labels
        assert labels is not None
        return ((outputs.predictions[rows] != labels) | (labels < 0)).astype(np.float64)

    def _check_names(self) -> None:
        """Stages that have classes must have the same."""
        named = [outputs for outputs in self.outputs if outputs.n_classes]
        for outputs in named[1:]:
            first = named[0]
            same = outputs.class_names == first.class_names or None in (outputs.class_names, first.class_names)
            if outputs.n_classes != first.n_classes or not same:
                got = " and ".join(
                    str(each.n_classes) + (f" ({', '.join(each.class_names[:4])}…)" if each.class_names else "")
                    for each in (first, outputs)
                )
                raise InvalidInputError(
                    f"`outputs` must have the same classes in the same order at every stage, got {got}."
                )

    def _check_labels(self) -> None:
        known = [stage for stage, outputs in enumerate(self.outputs) if outputs.labels is not None]
        for stage in known[1:]:
            here = np.flatnonzero(self.is_present(known[0]) & self.is_present(stage))
            first, other = (
                np.maximum(np.asarray(self.outputs[each].labels)[self.rows[each][here]], -1)
                for each in (known[0], stage)
            )
            if (first != other).any():
                raise InvalidInputError(
                    f"`outputs` must have the same labels at every stage, got {self.names[stage]} different from "
                    f"{self.names[known[0]]} in row {here[np.argmax(first != other)]}. Are the rows in the same order? "
                    "Ids match them in any."
                )


def _matched(first: Outputs, other: Outputs, first_name: str, name: str) -> Ints:
    """(n,) the row of the other outputs for each row of the first, −1 where it has none."""
    by_order = np.arange(len(first))
    if first.ids is None or other.ids is None:
        if len(first) != len(other):
            raise InvalidInputError(
                f"`outputs` must have as many rows at every stage, or ids that match them, got {len(other):,} at "
                f"{name} for {len(first):,} at {first_name}."
            )
        return by_order
    ids, others = first.ids.astype(str).tolist(), other.ids.astype(str).tolist()
    if ids == others:
        return by_order
    for stage, each in ((first_name, ids), (name, others)):
        if len(set(each)) < len(each):
            raise InvalidInputError(
                f"`ids` must be in the same order at every stage where they repeat, got another order at {name} and "
                f"repeated ids at {stage}."
            )
    left = {other_id: row for row, other_id in enumerate(others)}
    rows = np.array([left.pop(first_id, ABSENT) for first_id in ids])
    if left:
        raise InvalidInputError(
            f"`ids` at {name} must be among those at {first_name}, got {len(left):,} others, "
            f"{next(iter(left))!r} first."
        )
    return rows
