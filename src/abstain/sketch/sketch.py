"""`Sketch`: counts that merge, from which curves, areas and thresholds follow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain._arguments import as_doubles, as_path, as_rectangle
from abstain._arrays import Ints
from abstain._errors import InvalidInputError
from abstain.metrics.checks import check_losses
from abstain.outputs import Outputs
from abstain.scores.given_confidence import Given
from abstain.sketch import file as sketch_file
from abstain.sketch.bins import BITS, Bins, bins_words
from abstain.sketch.cells import Cells, Stratum
from abstain.sketch.counts import BinCounts
from abstain.sketch.plan import PARTS, BatchCounts, BinnedScore, Plan

CELLS = 1 << 20  # that may wait to be merged


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """The number of rows and errors in each bin of each score, by population and part.

    Sketches with the same plan add up: ``a + b`` is the sketch of all rows, whatever the order and the batches in which
    they were counted. It holds counts, and no rows. Make one by `of`, `of_outputs` or `abstain.scale.sketch`.

    Parameters
    ----------
    plan : Plan
        What is counted, and how.
    strata : tuple of tuples of str
        The populations, each by its names in ``plan.by``, ascending.
    cells : dict of str to Cells
        The counts of each score.
    rounded, fitted_bins : frozenset of str
        Scores with rounded confidences, and scores whose edges were chosen on the rows.

    Examples
    --------
    >>> a, b = Sketch.of([0.9, 0.8], [0, 1]), Sketch.of([0.8, 0.1], [0, 1])
    >>> round((a + b).counts().aurc().point, 6)
    0.270833
    """

    plan: Plan
    strata: tuple[Stratum, ...]
    """The populations, each by its names in ``plan.by``, ascending."""
    cells: dict[str, Cells]
    """By score; the code of a cell is the number of its population times the parts, plus the part."""
    rounded: frozenset[str] = frozenset()
    """Scores with all bits of a float32 of which some confidence was rounded."""
    fitted_bins: frozenset[str] = frozenset()
    """Scores whose edges were chosen on the rows that are counted: tests must not treat them as fixed."""

    @classmethod
    def of(
        cls,
        confidence: ArrayLike,
        errors: ArrayLike,
        /,
        *,
        score: str = "confidence",
        bins: Bins | None = None,
        ids: ArrayLike | None = None,
    ) -> Self:
        """The sketch of one confidence (n,) that was given, NaN where a row is never accepted; errors are 0 or 1."""
        wrong = _errors(errors)
        c: NDArray[np.floating] = as_rectangle("confidence", confidence)
        if c.dtype.kind not in "biuf" or c.shape != wrong.shape:
            raise InvalidInputError(f"`confidence` must be numbers of shape {wrong.shape}, got {c.dtype} of {c.shape}.")
        c = c if c.dtype == np.float32 else as_doubles("confidence", c)
        plan = _given_plan(score, bins or Bins(BITS), has_ids=ids is not None)
        return cls._of(plan, plan.count_pairs({score: c}, wrong, ids, []))

    @classmethod
    def of_table(cls, table: Ints, /, *, score: str = "confidence") -> Self:
        """The sketch of right and wrong rows (2^bits, 2) by the leading bits of the key of a confidence."""
        bits = len(table).bit_length() - 1
        if table.ndim != 2 or table.shape != (1 << bits, 2) or table.dtype.kind not in "iu" or (table < 0).any():
            raise InvalidInputError(f"`table` must be counts of shape (2^bits, 2), got {table.dtype} of {table.shape}.")
        cells = Cells.of_table(table.astype(np.int64))
        return cls(_given_plan(score, Bins(bits), has_ids=False), ((),) if len(cells.slots) else (), {score: cells})

    @classmethod
    def of_outputs(cls, plan: Plan, outputs: Outputs, /, *, numbers: ArrayLike | None = None) -> Self:
        """The sketch of outputs by a plan; ``numbers`` (n,) identify rows without ids, by default their index."""
        return cls._of(plan, plan.count(outputs, numbers=numbers))

    @classmethod
    def empty(cls, plan: Plan, /) -> Self:
        """The sketch of no rows."""
        return cls(plan, (), {name: Cells.merge([]) for name in plan.scores})

    @classmethod
    def _of(cls, plan: Plan, counted: BatchCounts) -> Self:
        return cls(plan, *counted)

    def __repr__(self) -> str:
        return f"<Sketch of {self.n} rows with {self.n_errors} errors: {', '.join(self.scores)}>"

    @property
    def scores(self) -> list[str]:
        """The names of the scores."""
        return list(self.plan.scores)

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(next(iter(self.cells.values())).counts.sum())

    @property
    def n_errors(self) -> int:
        """The number of errors."""
        return int(next(iter(self.cells.values())).errors.sum())

    @property
    def n_cells(self) -> int:
        """The number of cells with rows, of all scores."""
        return sum(len(cells.slots) for cells in self.cells.values())

    def names(self, by: str, /) -> list[str]:
        """The shifts, domains or predicted classes that occur."""
        index = self._index(by)
        return sorted({stratum[index] for stratum in self.strata})

    def _index(self, by: str) -> int:
        if by not in self.plan.by:
            raise InvalidInputError(
                f"`by` must be what the sketch counts separately, {', '.join(self.plan.by) or 'nothing'}, got {by}. "
                f"Sketch again by {by}."
            )
        return self.plan.by.index(by)

    def counts(self, score: str | None = None, /, **among: Iterable[str]) -> BinCounts:
        """The counts of a score, or of the only one, on rows of some shifts, domains or classes, or on all.

        ``sketch.counts("energy", shift=["none", "covariate"], domain=["fog-3"])``
        """
        name = self._score(score)
        cells, bins = self.cells[name], self.plan.scores[name].bins
        if among:
            chosen = self._chosen(among)[cells.codes // self.plan.parts]
            cells = Cells(cells.slots[chosen], cells.counts[chosen], cells.errors[chosen])
        total = cells.with_codes(np.zeros(int(cells.codes.max(initial=0)) + 1, np.int64))

        @cache
        def parts() -> tuple[Ints, Ints, Ints, Ints]:
            codes = np.arange(int(cells.codes.max(initial=0)) + 1) % self.plan.parts
            by_part = cells.with_codes(codes)
            index = len(total.bins) - 1 - np.searchsorted(total.bins, by_part.bins)
            return by_part.codes, index, by_part.counts, by_part.errors

        return BinCounts(
            used=bins,
            bins=total.bins[::-1],
            counts=total.counts[::-1],
            errors=total.errors[::-1],
            is_exact=bins.keeps_all and name not in self.rounded,
            are_clusters=self.plan.has_ids,
            are_fixed=name not in self.fitted_bins,
            parts=parts,
        )

    def _score(self, score: str | None) -> str:
        if score is None and len(self.scores) == 1:
            return self.scores[0]
        if score not in self.scores:
            raise InvalidInputError(f"`score` must be one of {', '.join(self.scores)}, got {score!r}.")
        return score

    def _chosen(self, among: dict[str, Iterable[str]]) -> NDArray[np.bool_]:
        chosen = np.ones(len(self.strata), bool)
        for by, names in among.items():
            index, wanted = self._index(by), {str(name) for name in names}
            chosen &= np.array([stratum[index] in wanted for stratum in self.strata], bool)
        return chosen

    def summary(self) -> str:
        """What it counts, in a sentence."""
        bins = bins_words(score.bins for score in self.plan.scores.values())
        names = ["group" if name == "domain" else name for name in self.plan.by]
        kept = f"by {', '.join(names)}" if names else "all together"
        return (
            f"{self.n:,} rows with {self.n_errors:,} errors, {kept}, in {bins} of "
            f"{', '.join(self.scores)}; {self.n_cells:,} counts."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data of what it counts."""
        return {
            "n": self.n,
            "errors": self.n_errors,
            "scores": {name: score.bins.words() for name, score in self.plan.scores.items()},
            "by": list(self.plan.by),
            "populations": [list(stratum) for stratum in self.strata],
            "cells": self.n_cells,
        }

    def with_fitted_bins(self) -> Self:
        """The same, marked as having edges that were chosen on its rows."""
        return replace(self, fitted_bins=frozenset(self.scores))

    def __add__(self, other: "Sketch") -> "Sketch":
        return merge([self, other])

    def save(self, file: str | PathLike[str], /) -> None:
        """Write one file, whole or not at all."""
        sketch_file.save(self, as_path("file", file))

    @classmethod
    def load(cls, file: str | PathLike[str], /) -> Self:
        """Read a file written by `save`; a truncated, altered, newer or foreign file is an error."""
        return cls(**sketch_file.load(as_path("file", file)))


def merge(sketches: Iterable[Sketch], /, *, names: Sequence[str] | None = None) -> Sketch:
    """Add up sketches of different rows with the same plan.

    Parameters
    ----------
    sketches : iterable of Sketch
        No row may be in two of them, which counts cannot show.
    names : sequence of str, optional
        What the sketches are called in errors.

    Returns
    -------
    Sketch
        That of all rows.

    Raises
    ------
    InvalidInputError
        If plans differ; the message names the difference.
    """
    parts = list(sketches)
    if not parts:
        raise InvalidInputError("`sketches` must have at least one sketch, got none.")
    plan = parts[0].plan
    for number, part in enumerate(parts):
        if part.plan is not plan and (words := plan.differs(part.plan)):
            first, this = (names[0], names[number]) if names else ("the first", f"number {number + 1}")
            again = f"`abstain sketch --edges {first}`" if names else "the plan of the first"
            raise InvalidInputError(
                f"`sketches` must have the same plan, got in {first} and {this}: {words}. Sketch again with {again}."
            )
    strata = tuple(sorted({stratum for part in parts for stratum in part.strata}))
    index = {stratum: number for number, stratum in enumerate(strata)}
    moved = [np.array([index[stratum] for stratum in part.strata], np.int64) for part in parts]
    cells = {
        name: Cells.merge([part.cells[name].moved(to, plan.parts) for part, to in zip(parts, moved, strict=True)])
        for name in plan.scores
    }
    rounded, fitted_bins = (
        frozenset[str]().union(*(getattr(part, field) for part in parts)) for field in ("rounded", "fitted_bins")
    )
    return Sketch(plan, strata, cells, rounded, fitted_bins)


def _given_plan(score: str, bins: Bins, *, has_ids: bool) -> Plan:
    """The plan for one confidence that is given."""
    given = Given(score)
    return Plan(scores={score: BinnedScore(given, given, bins)}, by=(), parts=PARTS if has_ids else 1, has_ids=has_ids)


def _errors(errors: ArrayLike) -> NDArray[np.bool_]:
    """Errors of 0 and 1 as bool."""
    e, _ = check_losses(errors)
    if e.dtype != bool and (graded := e[(e != 0) & (e != 1)]).size:
        raise InvalidInputError(f"`errors` must be 0 or 1, since a sketch counts errors, got {graded[0]:g}.")
    return np.ascontiguousarray(e.astype(bool, copy=False))


@final
class Tally:
    """A sketch that grows batch by batch in bounded memory.

    Parameters
    ----------
    plan : Plan
        What is counted, and how.

    Examples
    --------
    >>> tally = Tally(Sketch.of([0.5], [0]).plan)
    >>> for confidence in (0.9, 0.8, 0.1):
    ...     tally.add(Sketch.of([confidence], [confidence < 0.5]))
    >>> tally.sketch().n
    3
    """

    def __init__(self, plan: Plan, /) -> None:
        self._parts = [Sketch.empty(plan)]
        self._waiting = 0

    @property
    def plan(self) -> Plan:
        """What is counted, and how."""
        return self._parts[0].plan

    def update(self, outputs: Outputs, /, *, numbers: ArrayLike | None = None) -> None:
        """Count the rows of outputs; ``numbers`` (n,) identify rows without ids, by default their index."""
        self.add(Sketch.of_outputs(self.plan, outputs, numbers=numbers))

    def add(self, part: Sketch, /) -> None:
        """Add a sketch of other rows."""
        self._parts.append(part)
        self._waiting += part.n_cells
        if self._waiting > max(CELLS, self._parts[0].n_cells):
            self.sketch()

    def sketch(self) -> Sketch:
        """The sketch of all rows so far."""
        if len(self._parts) > 1:
            self._parts, self._waiting = [merge(self._parts)], 0
        return self._parts[0]
