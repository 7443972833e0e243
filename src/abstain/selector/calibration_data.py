"""What a selector remembers of the rows it was calibrated on: counts, a digest, and each class and domain."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from abstain._text import listed
from abstain.outputs import Outputs

MOST = 10_000  # names of classes or domains that a file keeps


@final
@dataclass(frozen=True)
class SliceCounts:
    """The rows of one name: how many there are, how many of them are accepted, and how many of these are wrong.

    Of graded answers, ``errors`` is the total loss of those accepted.
    """

    name: str
    n: int
    accepted: int
    errors: int | float


@final
@dataclass(frozen=True, kw_only=True)
class CalibrationData:
    """The rows that a selector was calibrated on."""

    digest: str
    """SHA-256 of all rows that were given."""
    rows: int
    samples: int
    """Different samples, by ids, among the rows."""
    unusable: int
    """Rows that are not finite."""
    held_out: int
    """Rows that chose or fitted the score, and certify nothing."""
    largest: int
    """Rows of the largest cluster among those that certify."""
    classes: tuple[SliceCounts, ...]
    """The rows that certify by predicted class; none without classes."""
    domains: tuple[SliceCounts, ...]

    def words(self, certifying: int, /) -> str:
        """How many of the rows given do not certify, and why; nothing where all do."""
        others = self.rows - self.held_out - certifying
        parts = [f"{self.held_out:,} chose or fitted the score"] if self.held_out else []
        parts += [f"{others:,} proposed thresholds or repeat a sample"] if others > 0 else []
        certify = f"{certifying:,} certify the threshold"
        given = f" Of the {self.rows:,} rows given, {listed([*parts, certify])}." if parts else ""
        unusable = f" Rows that are not finite, {self.unusable:,} here, are never accepted." if self.unusable else ""
        return given + unusable


def slice_counts(
    names: NDArray[np.str_] | None, accepted: NDArray[np.bool_], outcomes: NDArray[Any] | None, /
) -> tuple[SliceCounts, ...]:
    """The counts of each name in the order of the names; none where there are no names or more than a file keeps."""
    if names is None:
        return ()
    losses = np.zeros(len(accepted), dtype=bool) if outcomes is None else outcomes
    distinct, index = np.unique(names, return_inverse=True)
    if len(distinct) > MOST:
        return ()
    columns = (None, accepted, accepted * losses)
    totals = (np.bincount(index, weights=each, minlength=len(distinct)).tolist() for each in columns)
    kind = int if losses.dtype == bool else float
    return tuple(
        SliceCounts(str(name), n, int(kept), kind(wrong))
        for name, n, kept, wrong in zip(distinct, *totals, strict=True)
    )


def class_names_of(predictions: NDArray[np.int64], class_names: tuple[str, ...] | None, /) -> NDArray[np.str_]:
    """(n,) the name of each predicted class, its number where it has none; −1 for a non-finite row."""
    if class_names is None:
        return predictions.astype(str)
    return np.append(np.array(class_names, dtype=str), "-1")[predictions]


def largest_cluster(outputs: Outputs, /) -> int:
    """How many rows the largest sample has."""
    return int(np.bincount(outputs.samples[0]).max())
