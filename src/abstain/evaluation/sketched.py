"""Scores compared by the counts of a sketch: the usual table, with brackets."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any, final

from abstain.evaluation.compared import Behind
from abstain.evaluation.guessing import suspicion
from abstain.evaluation.mixes import MIXES, Mix, mixes_among
from abstain.evaluation.table import ScoreTable
from abstain.metrics.checks import check_share
from abstain.metrics.compare import Comparison
from abstain.metrics.intervals import ALPHAS, Estimate, mover
from abstain.metrics.lowest import lowest
from abstain.sketch import Counts, Sketch
from abstain.words import counted

WIDE = 0.05  # of a value: brackets beyond it tell that bins are too coarse
SEEN = 0.5e-4  # of a risk: what a table of AURC × 100 with two decimals shows


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class SketchedEvaluation(ScoreTable):
    """A table of AURC-α made from counts: its rows also have ``lower`` and ``upper``, certain bounds of each value."""

    counted: int
    """The rows of the sketch."""

    def __repr__(self) -> str:
        best = self.best(self.mixes[-1], max(self.alphas))
        return (
            f"<Evaluation of a sketch: {counted(len(self.scores), 'score')} on {self.n} rows; best over {best['mix']}: "
            f"{best['score']}, AURC {best['aurc']:.4g} in {best['lower']:.4g}–{best['upper']:.4g}>"
        )

    @property
    def n(self) -> int:
        """The number of rows evaluated."""
        return self.counted

    def learning(self, score: str, mix: str, alpha: float) -> None:
        """Counts of each score do not tell what several together would."""


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
    """
    for alpha in alphas:
        check_share("alpha", alpha)
    if not sketch.n:
        raise ValueError("`sketch` must have rows to be evaluated, got none.")
    chosen = [name for name in sketch.scores if scores is None or name in scores]
    for name in scores or ():
        sketch.counts(name)
    among: dict[str, Sequence[str]] = {} if domain is None else {"domain": domain}
    among |= {} if classes is None else {"class": classes}
    rows: list[dict[str, Any]] = []
    behind: Behind = {}
    for mix, kinds in _mixes(sketch):
        counts = {name: sketch.counts(name, **among, **kinds) for name in chosen}
        table, apart = _compared(mix, counts, alphas, level, can_pair=sketch.plan.parts > 1)
        rows += table
        behind |= apart
    return SketchedEvaluation(
        rows=rows,
        behind=behind,
        notes=tuple(_notes(rows, sketch)),
        level=level,
        entries={name: sketch.plan.scores[name].entry for name in chosen},
        counted=sketch.n,
        suspicion=_suspicion(sketch),
        further=[],
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
    mix: Mix,
    counts: dict[str, Counts],
    alphas: Sequence[float],
    level: float,
    *,
    can_pair: bool,
) -> tuple[list[dict[str, Any]], Behind]:
    """The rows of the table for a mix, α by α, and how far each score is behind the best."""
    each = {name: one.estimates(alphas, level=level) for name, one in counts.items()}
    table: list[dict[str, Any]] = []
    behind: Behind = {}
    for place, alpha in enumerate(alphas):
        found = {name: some[place] for name, some in each.items()}
        first = list(found)[lowest([one.value for one in found.values()])]
        for name, one in found.items():
            tied = True
            if name != first:
                apart = _apart(counts, found, name, first, alpha, level, can_pair=can_pair)
                behind[name, mix.name, alpha] = apart
                tied = apart.low <= 0
            bracket = counts[name].aurc(alpha)
            row = {"score": name, "mix": mix.name, "alpha": float(alpha), "aurc": one.value, "se": one.se}
            row |= {"low": one.low, "high": one.high, "n": counts[name].n, "errors": counts[name].n_errors}
            row |= {"best": one.value == found[first].value, "tied": tied}
            table.append(row | {"lower": bracket.low, "upper": bracket.high})
    return table, behind


def _apart(
    counts: dict[str, Counts],
    found: dict[str, Estimate],
    name: str,
    first: str,
    alpha: float,
    level: float,
    *,
    can_pair: bool,
) -> Comparison:
    """How far a score is behind the first: paired, or, in a sketch without parts, as if of different rows."""
    if can_pair:
        return counts[name].compare(counts[first], alpha=alpha, level=level)
    a, b = found[name], found[first]
    low, high = mover((a.value, a.low, a.high), (b.value, b.low, b.high))
    return Comparison(a.value - b.value, hypot(a.se, b.se), low, high)


def _notes(rows: list[dict[str, Any]], sketch: Sketch) -> list[str]:
    widest = max(rows, key=_width)
    width = _width(widest)
    notes = [
        f"Counts of {sketch.n:,} rows in bins: every AURC is certain to within {width:.2g} of its value "
        f"({widest['score']}, alpha={widest['alpha']:g}, the widest)."
    ]
    if width == 0:
        notes = [f"Counts of {sketch.n:,} rows by every value of the confidence: AURC is exact."]
    elif wide := [row for row in rows if _width(row) > WIDE and row["upper"] - row["lower"] > SEEN]:
        notes.append(
            f"That of {max(wide, key=_width)['score']} is wide: count a form of the score that does not crowd near its "
            "end, such as the log-odds of a probability, or keep more bits."
        )
    if sketch.plan.has_ids:
        notes.append("Several rows may show the same sample: standard errors count each sample once.")
    if sketch.plan.parts == 1 and len(sketch.scores) > 1:
        notes.append("The sketch has no parts: differences between scores are told as if of different rows.")
    return notes


def _width(row: dict[str, Any]) -> float:
    """Of a bracket, relative to what is in it."""
    return float((row["upper"] - row["lower"]) / row["upper"]) if row["upper"] else 0.0
