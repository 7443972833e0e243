"""`evaluate_sketch`: scores compared by the counts of a sketch: the usual table, with certain bounds of each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import hypot
from typing import final

from abstain._errors import InvalidInputError
from abstain._text import counted
from abstain.evaluation.chance_level import suspicion
from abstain.evaluation.mixes import MIXES, Mix, mixes_among
from abstain.evaluation.score_comparison import Column, table_of
from abstain.evaluation.score_table import AreaRow, Behind, ScoreTable
from abstain.metrics.compare import ScoreDifference, mover
from abstain.metrics.intervals import ALPHAS, check_alphas
from abstain.sketch import BinCounts, Sketch

WIDE = 0.05  # of a value: wider brackets mean that bins are too coarse
VISIBLE = 0.5e-4  # of a risk: what a table of AURC × 100 with two decimals shows


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class SketchedEvaluation(ScoreTable):
    """A table of AURC-α made from counts: its rows also have ``lower`` and ``upper``, certain bounds of each value."""

    def __repr__(self) -> str:
        best = self.best(self.mixes[-1], max(self.alphas))
        return (
            f"<Evaluation of a sketch: {counted(len(self.scores), 'score')} on {self.n} rows; best over {best.mix}: "
            f"{best.score}, AURC {best.aurc:.4g} in {best.lower:.4g}–{best.upper:.4g}>"
        )

    def learning(self, score: str, mix: str, alpha: float) -> None:
        """None: counts of each score do not show what several would do together."""


def evaluate_sketch(
    sketch: Sketch,
    /,
    *,
    scores: Sequence[str] | None = None,
    alphas: Sequence[float] = ALPHAS,
    level: float = 0.95,
    domain: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
) -> SketchedEvaluation:
    """Compare the scores of a sketch as `evaluate` does with outputs, on all rows or those of some domains or classes.

    Standard errors and paired differences are by parts of the rows left out in turn where a sample may have several
    rows, and intervals are longer by what the bins leave open. Classes are predicted ones, by their number.

    Parameters
    ----------
    sketch : Sketch
        The counts.
    scores : sequence of str, optional
        By default all of the sketch.
    alphas : sequence of float
        The largest coverages that count, each above 0 and at most 1.
    level : float
        Of the interval.
    domain : sequence of str, optional
        Count rows of these domains alone.
    classes : sequence of str, optional
        Count rows of these predicted classes alone, by their number.

    Returns
    -------
    SketchedEvaluation
        Its rows also have ``lower`` and ``upper``, certain bounds of each value.
    """
    check_alphas(alphas)
    if not sketch.n:
        raise InvalidInputError("`sketch` must have rows to be evaluated, got none.")
    chosen = [name for name in sketch.scores if scores is None or name in scores]
    for name in scores or ():
        sketch.counts(name)
    among: dict[str, Sequence[str]] = {} if domain is None else {"domain": domain}
    among |= {} if classes is None else {"class": classes}
    areas: list[AreaRow] = []
    behind: Behind = {}
    for mix, kinds in _mixes(sketch):
        counts = {name: sketch.counts(name, **among, **kinds) for name in chosen}
        table, apart = _compared(mix, counts, alphas, level, can_pair=sketch.plan.parts > 1)
        areas += table
        behind |= apart
    return SketchedEvaluation(
        areas=tuple(areas),
        behind=behind,
        notes=tuple(_notes(areas, sketch)),
        level=level,
        entries={name: sketch.plan.scores[name].entry for name in chosen},
        n=sketch.n,
        suspicion=_suspicion(sketch),
        extra=(),
        left_out={},
    )


def _suspicion(sketch: Sketch) -> str:
    """Of the in-distribution rows, or of all where there is none or shifts were not counted."""
    among = {"shift": ("none",)} if "shift" in sketch.plan.by and "none" in sketch.names("shift") else {}
    counts = sketch.counts(sketch.scores[0], **among)
    return suspicion(counts.n_errors, counts.n, samples=counts.n, classes=sketch.plan.n_classes)


def _mixes(sketch: Sketch) -> list[tuple[Mix, dict[str, tuple[str, ...]]]]:
    """The mixes of its rows, and the counts that each has."""
    if "shift" not in sketch.plan.by:
        return [(MIXES["all"], {})]
    return [(mix, {"shift": mix.kinds}) for mix in mixes_among(sketch.names("shift"))]


def _compared(
    mix: Mix, counts: dict[str, BinCounts], alphas: Sequence[float], level: float, *, can_pair: bool
) -> tuple[list[AreaRow], Behind]:
    """The rows of the table for a mix, α by α, and how far each score is behind the best."""
    each = {name: score_counts.estimates(alphas, level=level) for name, score_counts in counts.items()}
    columns = [{name: some[index] for name, some in each.items()} for index in range(len(alphas))]
    first = next(iter(counts.values()))
    behind = partial(_behind, counts, level=level, can_pair=can_pair)
    table, differences = table_of(mix, columns, behind, n=first.n, errors=first.n_errors)
    brackets = [counts[row.score].aurc(row.alpha) for row in table]
    bounded = [replace(row, lower=each.low, upper=each.high) for row, each in zip(table, brackets, strict=True)]
    return bounded, differences


def _behind(
    counts: dict[str, BinCounts], best: str, column: Column, level: float, *, can_pair: bool
) -> dict[str, ScoreDifference]:
    """How far the others are behind the best: paired, or, in a sketch without parts, as if of different rows."""
    others, first = [name for name in column if name != best], column[best]
    if can_pair:
        return {name: counts[name].compare(counts[best], alpha=first.alpha, level=level) for name in others}
    behind = {}
    for name in others:
        a = column[name]
        low, high = mover((a.value, a.low, a.high), (first.value, first.low, first.high))
        behind[name] = ScoreDifference(a.value - first.value, hypot(a.se, first.se), low, high)
    return behind


def _notes(rows: list[AreaRow], sketch: Sketch) -> list[str]:
    widest = max(rows, key=_width)
    width = _width(widest)
    notes = [
        f"Counts of {sketch.n:,} rows in bins: every AURC is certain to within {width:.2g} of its value "
        f"({widest.score}, alpha={widest.alpha:g}, the widest)."
    ]
    if width == 0:
        notes = [f"Counts of {sketch.n:,} rows by every value of the confidence: AURC is exact."]
    elif wide := [row for row in rows if _width(row) > WIDE and _gap(row) > VISIBLE]:
        notes.append(
            f"That of {max(wide, key=_width).score} is wide: count a form of the score that does not crowd near its "
            "end, such as the log-odds of a probability, or keep more bits."
        )
    if sketch.plan.has_ids:
        notes.append("Several rows may show the same sample: standard errors count each sample once.")
    if sketch.plan.parts == 1 and len(sketch.scores) > 1:
        notes.append("The sketch has no parts: differences between scores are computed as if of different rows.")
    return notes


def _gap(row: AreaRow) -> float:
    return (row.upper or 0.0) - (row.lower or 0.0)


def _width(row: AreaRow) -> float:
    """Of a bracket, relative to what is in it."""
    return _gap(row) / row.upper if row.upper else 0.0
