"""`RunComparison`: what sets two models apart after rejection, as plain data and in words."""

from dataclasses import asdict, dataclass, field
from importlib import import_module
from os import PathLike
from typing import Any, Self, final

from abstain.arguments import as_path
from abstain.evaluation.mixes import MIXES
from abstain.files import write_text
from abstain.metrics.aurc import area_name
from abstain.metrics.two_models import Pair, TwoModels

USUAL_COVERAGE = 0.8


@final
@dataclass(frozen=True)
class Difference:
    """A value of both models, and the difference of a minus b with its standard error and interval."""

    at: float
    """The α, the coverage or the risk."""
    a: float
    b: float
    difference: float
    se: float | None
    """None for coverages where a curve ends, or does not rise."""
    low: float
    high: float

    @classmethod
    def of(cls, at: float, pair: Pair, /) -> Self:
        """A pair of values at a point."""
        return cls(float(at), pair.a, pair.b, pair.difference, pair.se, pair.low, pair.high)

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


@final
@dataclass(frozen=True, kw_only=True)
class MixComparison:
    """Two models on a mix of shifts."""

    mix: str
    n: int
    samples: int
    errors_a: int
    errors_b: int
    aurc: tuple[Difference, ...]
    """AURC-α: below zero means that a is better."""
    risk: tuple[Difference, ...]
    """The risk where both accept the same share: below zero means that a is better."""
    coverage: tuple[Difference, ...]
    """The share that each accepts at the same risk: above zero means that a is better."""
    coverage_at_risk_of_b: tuple[Difference, ...]
    """The share that a accepts at the risk which b has at a coverage, and that coverage as ``b``."""
    coverage_at_risk_of_a: tuple[Difference, ...]
    """The share that b accepts at the risk which a has at a coverage, as ``b``, and that coverage as ``a``."""


@final
@dataclass(frozen=True, kw_only=True)
class RunComparison:
    """Two models on the same samples, mix by mix, the widest last."""

    names: tuple[str, str]
    scores: tuple[str, str]
    mixes: tuple[MixComparison, ...]
    notes: tuple[str, ...]
    level: float
    models: dict[str, TwoModels] = field(repr=False)
    """By mix, the rankings that the curves are drawn from."""

    def mix(self, name: str | None = None, /) -> MixComparison:
        """The comparison on a mix, by default the widest."""
        return self.mixes[-1] if name is None else next(each for each in self.mixes if each.mix == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `abstain compare --json` prints it."""
        return {
            "names": list(self.names),
            "scores": list(self.scores),
            "words": self.words(),
            "mixes": [asdict(mix) for mix in self.mixes],
            "notes": list(self.notes),
            "level": self.level,
        }

    def to_html(self, file: str | PathLike[str], /) -> None:
        """Write one self-contained page."""
        page = import_module("abstain.report.comparison_page")  # renderings know comparisons, not the reverse
        write_text(as_path("file", file), page.comparison_page(self))

    def words(self, mix: str | None = None, /) -> str:
        """Which is better after rejection, at the same coverage and at the same risk."""
        return " ".join(self.sentences(mix))

    def sentences(self, mix: str | None = None, /) -> list[str]:
        """The words, sentence by sentence, the verdict first."""
        found = self.mix(mix)
        if found.errors_a == found.errors_b and found.errors_a in (0, found.n):
            state = "wrong" if found.errors_a else "right"
            return [f"Neither can be called better: both are always {state} {self._where(found)}."]
        return [self._verdict(found), *self._at_coverage(found), *self._at_risk(found)]

    def _where(self, found: MixComparison) -> str:
        rows = f"{found.n:,} rows" + ("" if found.samples == found.n else f" of {found.samples:,} samples")
        return f"{MIXES[found.mix].words} ({rows})"

    def _verdict(self, found: MixComparison) -> str:
        area = max(found.aurc, key=lambda one: one.at)
        name = area_name(area.at)
        numbers = f"{name} {100 * area.a:.2f} for {self.names[0]} and {100 * area.b:.2f} for {self.names[1]}"
        interval = f"difference {signed(100 * area.difference)}, {self._interval(area, 100, 2)}"
        if not area.is_significant:
            return f"No difference after rejection can be told {self._where(found)}: {numbers} ({interval})."
        better = self.names[0] if area.difference < 0 else self.names[1]
        return f"{better} is better after rejection {self._where(found)}: {numbers} ({interval})."

    def _at_coverage(self, found: MixComparison) -> list[str]:
        if not found.risk:
            return []
        one = min(found.risk, key=lambda each: abs(each.at - USUAL_COVERAGE))
        told = "" if one.is_significant else ", which may be chance"
        words = (
            f"Where both accept {one.at:.4g} of the rows, {100 * one.a:.2f}% and {100 * one.b:.2f}% of these are wrong"
        )
        return [f"{words}{told}.", *self._gained(found, one)]

    def _gained(self, found: MixComparison, one: Difference) -> list[str]:
        """How much more the better one accepts at the risk of the other."""
        if not one.is_significant:
            return []
        first = one.difference < 0
        better, other = self.names if first else self.names[::-1]
        rows = found.coverage_at_risk_of_b if first else found.coverage_at_risk_of_a
        gain = next(each for each in rows if each.at == one.at)
        share = gain.a if first else gain.b
        low, high = (gain.low, gain.high) if first else (-gain.high, -gain.low)
        points = f"{100 * low:.1f} to {100 * high:.1f} points more".replace("-", "−")
        return [f"At the risk that {other} has there, {better} accepts {share:.1%} ({points})."]

    def _at_risk(self, found: MixComparison) -> list[str]:
        if not found.coverage:
            return []
        one = found.coverage[0]
        told = "" if one.is_significant else ", which may be chance"
        words = f"At a risk of {one.at:.4g} they accept {one.a:.1%} and {one.b:.1%}"
        return [f"{words} ({signed(100 * one.difference, 1)} points, {self._interval(one, 100, 1)}){told}."]

    def _interval(self, one: Difference, scale: float, digits: int) -> str:
        ends = f"{signed(scale * one.low, digits)} to {signed(scale * one.high, digits)}"
        return f"{100 * self.level:g}% interval {ends}"


def signed(value: float, digits: int = 2, /) -> str:
    """A difference with its sign, and none where it rounds to nothing.

    >>> signed(-1.234), signed(0.5, 1), signed(-0.001)
    ('−1.23', '+0.5', '0.00')
    """
    found = f"{value:+.{digits}f}"
    return f"{0:.{digits}f}" if float(found) == 0 else found.replace("-", "−")
