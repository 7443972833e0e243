"""Ways to divide the rows: by domain, by predicted and by true class."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from abstain._arrays import Ints
from abstain._kernels.counts import numbered
from abstain.evaluation import MIXES
from abstain.evaluation.operating_point import Point
from abstain.outputs import Outputs
from abstain.report.page.text import plain

KINDS = MIXES["all"].kinds
KIND_WORDS = {"none": "in-distribution", "covariate": "covariate shift", "label": "unknown classes"}
UNKNOWN = "(a class it does not know)"
UNUSABLE = "(no usable answer)"


@dataclass(frozen=True)
class Division:
    """The part of each row, under a title."""

    name: str
    title: str
    parts: tuple[str, ...]
    number: Ints
    """(n,) the part of each row."""

    def largest(self, most: int, /) -> "Division":
        """The parts with the most rows; all others are one part together."""
        if len(self.parts) <= most:
            return self
        order = np.argsort(-np.bincount(self.number, minlength=len(self.parts)), kind="stable")
        index = np.full(len(self.parts), most - 1)
        index[order[: most - 1]] = np.arange(most - 1)
        others = f"({len(self.parts) - most + 1:,} others)"
        return Division(
            self.name, self.title, (*(self.parts[k] for k in order[: most - 1]), others), index[self.number]
        )


def kinds_of(outputs: Outputs, /) -> Ints:
    """(n,) the number of each row's kind of shift."""
    return np.select([outputs.shift == kind for kind in KINDS], range(len(KINDS))).astype(np.int64)


def divisions(point: Point, /) -> Iterator[Division]:
    """The divisions that the outputs allow."""
    outputs = point.outputs
    if outputs.domain is not None:
        yield _of_names("group", "Group", outputs.domain)
    if point.predictions is not None:
        yield _of_classes("predicted", "Predicted class", point.predictions, outputs.class_names, UNUSABLE)
    if outputs.labels is not None and outputs.n_classes:
        yield _of_classes("true", "True class", outputs.labels, outputs.class_names, UNKNOWN)
    shift = kinds_of(outputs)
    if np.count_nonzero(np.bincount(shift)) > 1:
        yield Division("shift", "Kind of shift", tuple(KIND_WORDS[kind] for kind in KINDS), shift)


def class_name(number: int, names: Sequence[str] | None, /, *, negative: str) -> str:
    """The name of a class, its number where it has none."""
    if number < 0:
        return negative
    return plain(number if names is None else names[number])


def _of_classes(name: str, title: str, numbers: Ints, names: Sequence[str] | None, negative: str) -> Division:
    shifted = np.maximum(numbers, -1) + 1
    is_there = np.bincount(shifted) > 0
    numbers_present = (np.flatnonzero(is_there) - 1).tolist()
    parts = tuple(class_name(number, names, negative=negative) for number in numbers_present)
    return Division(name, title, parts, (np.cumsum(is_there) - 1)[shifted])


def _of_names(name: str, title: str, names: NDArray[np.str_]) -> Division:
    number, size = numbered(names)
    example = np.empty(size, np.int64)
    example[number] = np.arange(len(names))
    order = np.argsort(names[example], kind="stable")
    index = np.empty(size, np.int64)
    index[order] = np.arange(size)
    return Division(name, title, tuple(map(plain, names[example][order].tolist())), index[number])
