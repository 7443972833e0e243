"""Scores compared by the counts of a sketch: the usual table, with brackets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from abstain.evaluation.mixes import MIXES, Mix
from abstain.evaluation.verdict import verdict
from abstain.metrics.checks import check_share
from abstain.metrics.compare import Comparison
from abstain.metrics.intervals import ALPHAS, Estimate
from abstain.scores.score import Score
from abstain.sketch import Counts, Sketch

WIDE = 0.05  # of a value: brackets beyond it tell that bins are too coarse
SEEN = 0.5e-4  # of a risk: what a table of AURC × 100 with two decimals shows


@final
@dataclass(frozen=True, kw_only=True, repr=False)
class SketchedEvaluation:
    """A table of AURC-α like that of `Evaluation`; each value is certain to be between ``lower`` and ``upper``."""

    rows: list[dict[str, Any]]
    """Keys: score, mix, alpha, aurc, se, low, high, n, errors, best, tied, and the bracket lower, upper."""
    behind: dict[tuple[str, str, float], Comparison]
    notes: tuple[str, ...]
    level: float
    entries: Mapping[str, Score]
    n: int
    left_out: dict[str, str]

    def __repr__(self) -> str:
        best = self.best(self.mixes[-1], max(self.alphas))
        return (
            f"<Evaluation of a sketch: {len(self.scores)} scores on {self.n} rows; best over {best['mix']}: "
            f"{best['score']}, AURC {best['aurc']:.4g} in {best['lower']:.4g}–{best['upper']:.4g}>"
        )

    @property
    def scores(self) -> list[str]:
        """The names of the scores compared."""
        return list(self.entries)

    @property
    def mixes(self) -> list[str]:
        """The mixes evaluated, the widest last."""
        return list(dict.fromkeys(row["mix"] for row in self.rows))

    @property
    def alphas(self) -> list[float]:
        """The coverages α evaluated."""
        return list(dict.fromkeys(row["alpha"] for row in self.rows))

    def row(self, score: str, mix: str, alpha: float) -> dict[str, Any]:
        """One row of the table."""
        return next(row for row in self.column(mix, alpha) if row["score"] == score)

    def column(self, mix: str, alpha: float) -> list[dict[str, Any]]:
        """The rows of a mix and α, a row for each score."""
        found = [row for row in self.rows if row["mix"] == mix and row["alpha"] == alpha]
        if not found:
            raise KeyError(f"no rows for mix {mix!r} and alpha {alpha}")
        return found

    def best(self, mix: str, alpha: float = 1.0) -> dict[str, Any]:
        """The row of the lowest AURC-α in a mix."""
        return next(row for row in self.column(mix, alpha) if row["best"])

    @property
    def further(self) -> list[dict[str, Any]]:
        """No metric besides."""
        return []

    def learning(self, score: str, mix: str, alpha: float) -> None:
        """Counts of each score do not tell what several together would."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain evaluate --json` prints it."""
        return {
            "n": self.n,
            "verdict": verdict(self).to_dict(),
            "rows": self.rows,
            "left_out": self.left_out,
            "notes": list(self.notes),
            "level": self.level,
        }


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
    behind: dict[tuple[str, str, float], Comparison] = {}
    for mix, kinds in _mixes(sketch):
        counts = {name: sketch.counts(name, **among, **kinds) for name in chosen}
        rows += _compared(mix, counts, alphas, level, behind, can_pair=sketch.plan.parts > 1)
    return SketchedEvaluation(
        rows=rows,
        behind=behind,
        notes=tuple(_notes(rows, sketch)),
        level=level,
        entries={name: sketch.plan.scores[name].entry for name in chosen},
        n=sketch.n,
        left_out={},
    )


def _mixes(sketch: Sketch) -> list[tuple[Mix, dict[str, tuple[str, ...]]]]:
    """The mixes whose every kind of shift is there, the widest last, as `mixes_of` finds them."""
    if "shift" not in sketch.plan.by:
        return [(MIXES["all"], {})]
    present = set(sketch.names("shift"))
    wanted = [mix for mix in MIXES.values() if mix.name != "all" and set(mix.kinds) <= present]
    if not any(present <= set(mix.kinds) for mix in wanted):
        wanted.append(MIXES["all"])
    return [(mix, {"shift": mix.kinds}) for mix in wanted]


def _compared(
    mix: Mix,
    counts: dict[str, Counts],
    alphas: Sequence[float],
    level: float,
    behind: dict[tuple[str, str, float], Comparison],
    *,
    can_pair: bool,
) -> list[dict[str, Any]]:
    """The rows of a mix, α by α; how far each score is behind the best goes to ``behind``."""
    each = {name: one.estimates(alphas, level=level) for name, one in counts.items()}
    table = []
    for place, alpha in enumerate(alphas):
        found = {name: some[place] for name, some in each.items()}
        first = min(found, key=lambda name: found[name].value)
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
    return table


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
    difference = a.value - b.value
    half = ((a.high - a.low) ** 2 + (b.high - b.low) ** 2) ** 0.5 / 2
    return Comparison(difference, (a.se**2 + b.se**2) ** 0.5, difference - half, difference + half)


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
